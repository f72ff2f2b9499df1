import type { Texts } from "./en.ts";

/** Every text of the wallet proxy's page, in Indonesian. */
export const id: Texts = {
  product: "wallet proxy",
  skip: "Langsung ke isi",
  language: "Bahasa",
  page: "Tambahkan jaringan",
  title: "Tambahkan jaringan ke dompet Anda",
  intro:
    "Halaman ini berasal dari komputer Anda sendiri. Wallet proxy di baliknya menambahkan kunci API tim Anda pada permintaan dompet, sehingga dompet tidak perlu mengetahuinya. Ini bekerja selama proxy berjalan.",
  noScripts:
    "Tanpa JavaScript halaman ini tidak dapat meminta dompet mana pun. Salin nilai di bawah ke pengaturan dompet Anda.",
  wallet: {
    title: "Dompet Anda",
    looking: "Mencari dompet di peramban ini…",
  },
  next: {
    tokens: "Minta token uji",
    explorer: "Buka penjelajah blok",
  },
  status: {
    title: "Jaringan saat ini",
    asking: "Menanyai gateway…",
    block: "Blok terbaru",
    chainId: "ID rantai",
  },
  values: {
    title: "Secara manual",
    intro:
      "Untuk dompet yang tidak dapat diminta dari sini: salin nilai-nilai ini ke pengaturan jaringan khususnya.",
    chainName: "Nama jaringan",
    rpcUrl: "URL RPC",
    chainId: "ID rantai",
    chainIdHex: "ID rantai, heksadesimal",
    symbol: "Simbol mata uang",
    decimals: "Desimal mata uang",
    explorerUrl: "URL penjelajah blok",
    all: "Semua nilai",
    explorer: "Penjelajah blok",
    tokens: "Token uji",
  },
  words: {
    copy: "Salin",
    copied: "Tersalin",
    notCopied: "Tidak tersalin",
    copyAll: "Salin semua sebagai JSON",
    walletsFound: "Dompet Anda akan menampilkan apa yang ditambahkan, dan meminta persetujuan Anda.",
    walletsNone:
      "Tidak ada dompet di peramban ini. Buka halaman ini di peramban yang memiliki dompet Anda, atau pasang satu lalu muat ulang halaman. Dompet di luar peramban memakai nilai di bawah.",
    addTo: "Tambahkan ke {name}",
    anyWallet: "dompet peramban Anda",
    answerWallet: "Jawab di dompet Anda.",
    networkAdded: "Jaringan sudah ada di dompet Anda.",
    walletDeclined: "Anda menolak di dompet, jadi tidak ada yang ditambahkan.",
    walletWaits: "Dompet sudah menunggu jawaban Anda: buka dompetnya.",
    walletCannot:
      "Dompet ini tidak dapat diminta menambahkan jaringan: salin nilai di bawah ke pengaturannya.",
    walletFailed: "Dompet tidak menambahkannya: {message}",
    noReason: "tanpa alasan",
    gatewayAnswers: "Gateway menjawab",
    gatewayStatus: "Gateway menjawab dengan status {status}",
    otherNetwork: "Gateway melayani jaringan lain (ID rantai {chainId}): jangan tambahkan yang ini.",
    proxyAway: "Wallet proxy tidak menjawab: apakah masih berjalan?",
    problem_api_key_missing: "{message}",
    problem_api_key_invalid: "Gateway tidak mengenal kunci API wallet proxy: periksa berkasnya.",
    problem_api_key_expired: "Kunci API wallet proxy sudah kedaluwarsa: minta yang lain.",
    problem_api_key_revoked: "Kunci API wallet proxy sudah dicabut: minta yang lain.",
    problem_insufficient_permission: "Kunci API wallet proxy tidak boleh menanyakan ini.",
    problem_rate_limited: "Kunci API mencapai batas permintaannya; halaman bertanya lagi nanti.",
    problem_upstream_unavailable: "{message}",
    problem_network_stalled: "Jaringan sedang tidak membuat blok.",
  },
};
