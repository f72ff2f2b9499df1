/** The settings' texts, in English. */
export const settings = {
  title: "Settings",
  intro: "What your customers see of you where they pay.",
  name: "Name",
  nameHint: "Your shop's name, at most 60 characters. Your wallet's address always stands beside it.",
  contact: "Contact",
  contactHint:
    "Where customers ask about a payment: a number, an e-mail address or a sentence, at most 120 characters.",
  language: "Language of your customers' pages",
  languageHint: "For customers whose browser asks for neither language.",
  sites: "The site's own",
  save: "Save",
  saved: "The settings are saved.",
  wrongName: "A name has at most 60 characters, no invisible ones, and does not look like an address.",
  wrongContact: "A contact has at most 120 characters, and no invisible ones.",
  wrongLanguage: "Choose one of the languages.",
  tooMany: "You have changed your settings 20 times in 24 hours, which is the most. Try again tomorrow.",
  preview: "How customers see it",
  previewHelp: "So it stands above an invoice, once it is saved.",
  pays: "You pay",
  noName: "No name",
  questions: "Questions?",
  noContact: "Customers do not learn where to ask.",
  forgotten:
    "Without an order, a key or an invoice, your wallet and its settings are forgotten a week after you first signed in.",
};
