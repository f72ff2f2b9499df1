/** The overview's texts, in English. */
export const overview = {
  title: "Overview",
  today: "Today",
  last30Days: "Last 30 days",
  invoicesPaid: (n: number, shown: string) => (n === 1 ? "1 invoice paid" : `${shown} invoices paid`),
  jakarta: "Days are Jakarta's. An invoice counts on the day on which its whole amount has arrived.",
  chart: "Received on each of the last 30 days",
  chartTable: "The days in numbers",
  day: "Day",
  paid: "Paid",
  received: "Received",
  latest: "Latest invoices",
  allInvoices: "All invoices",
  begin: "Where to begin",
  beginKeys: "A key lets a program of yours use the developer API.",
};
