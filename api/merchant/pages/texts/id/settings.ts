import type { Texts } from "../en.ts";

/** The settings' texts, in Indonesian. */
export const settings: Texts["settings"] = {
  title: "Pengaturan",
  intro: "Yang dilihat pelanggan tentang Anda saat membayar.",
  name: "Nama",
  nameHint:
    "Nama toko Anda, paling panjang 60 karakter. Alamat dompet Anda selalu ditampilkan di sampingnya.",
  contact: "Kontak",
  contactHint:
    "Tempat pelanggan bertanya tentang pembayaran: nomor, alamat surel, atau satu kalimat, paling panjang 120 karakter.",
  language: "Bahasa halaman pelanggan Anda",
  languageHint: "Untuk pelanggan yang perambannya tidak meminta salah satu dari keduanya.",
  sites: "Sesuai situs ini",
  save: "Simpan",
  saved: "Pengaturan sudah disimpan.",
  wrongName:
    "Nama paling panjang 60 karakter, tanpa karakter yang tak terlihat, dan tidak menyerupai alamat.",
  wrongContact: "Kontak paling panjang 120 karakter, tanpa karakter yang tak terlihat.",
  wrongLanguage: "Pilih salah satu bahasa.",
  tooMany: "Anda sudah mengubah pengaturan 20 kali dalam 24 jam, dan itu batasnya. Coba lagi besok.",
  preview: "Yang dilihat pelanggan",
  previewHelp: "Beginilah tampilannya di atas tagihan, setelah disimpan.",
  pays: "Anda membayar",
  noName: "Tanpa nama",
  questions: "Ada pertanyaan?",
  noContact: "Pelanggan tidak tahu harus bertanya ke mana.",
  forgotten:
    "Tanpa pesanan, kunci, atau tagihan, dompet Anda dan pengaturannya dilupakan satu minggu setelah Anda pertama kali masuk.",
};
