import type { Texts } from "../en.ts";

/** The overview's texts, in Indonesian. */
export const overview: Texts["overview"] = {
  title: "Ringkasan",
  today: "Hari ini",
  last30Days: "30 hari terakhir",
  invoicesPaid: (_, shown) => `${shown} tagihan lunas`,
  jakarta: "Hari menurut waktu Jakarta. Tagihan dihitung pada hari jumlahnya diterima seluruhnya.",
  chart: "Yang diterima pada tiap hari, 30 hari terakhir",
  chartTable: "Hari-hari dalam angka",
  day: "Hari",
  paid: "Lunas",
  received: "Diterima",
  latest: "Tagihan terbaru",
  allInvoices: "Semua tagihan",
  begin: "Mulai dari mana",
  beginKeys: "Dengan kunci, program Anda dapat memakai API pengembang.",
};
