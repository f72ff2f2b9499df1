/** The overview's texts, in English. */
export const overview = {
  title: "Overview",
  today: "Today",
  last30Days: "Last 30 days",
  invoicesPaid: (n: number, shown: string) => (n === 1 ? "1 invoice paid" : `${shown} invoices paid`),
  open: "Open",
  openMore: (n: number, shown: string) =>
    n === 1 ? "1 invoice waits for its payment" : `${shown} invoices wait for their payment`,
  todo: "To do",
  nothingToDo: "Nothing needs you at the moment.",
  underpaid: (n: number, shown: string, due: string) =>
    n === 1
      ? `1 invoice is underpaid: ${due} are missing.`
      : `${shown} invoices are underpaid: ${due} are missing.`,
  late: (n: number, shown: string, amount: string) =>
    n === 1
      ? `1 invoice was paid late: ${amount}. Decide whether you still deliver.`
      : `${shown} invoices were paid late: ${amount}. Decide whether you still deliver.`,
  overpaid: (n: number, shown: string, excess: string) =>
    n === 1
      ? `1 invoice was paid with ${excess} too much, which you can give back.`
      : `${shown} invoices were paid with ${excess} too much, which you can give back.`,
  webhookFailing: "Your webhook does not take what is sent to it.",
  failed: (n: number, shown: string) =>
    n === 1
      ? "1 event of the last 24 hours is not delivered."
      : `${shown} events of the last 24 hours are not delivered.`,
  keyExpires: (name: string) => `The key ${name} expires:`,
  look: "Look",
  buyNext: "Buy the next one",
  disabledWebhook: { since: "Your webhook is disabled, and nothing is sent, since", look: "Look at it" },
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
