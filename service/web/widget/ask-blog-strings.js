/** Every word the widget says. A new language is one more key; gaps are filled from English. */
export const STRINGS = {
  en: {
    label: "Your question",
    placeholder: "What would you like to know?",
    ask: "Ask",
    stop: "Stop",
    counter: "{n} / {max}",
    hint: "Up to {max} characters. Enter asks, Shift and Enter starts a new line.",
    suggestions: "Questions to try",
    empty: "Type a question first.",
    too_long: "Too long by {n}. The limit is {max} characters.",

    stage_guard_input: "Checking the question…",
    stage_retrieve: "Searching the articles…",
    stage_grade: "Reading what was found…",
    stage_answer: "Writing from the passages…",
    stage_guard_output: "Checking every citation…",
    stage_other: "Working…",

    answer: "Answer to “{question}”",
    answered: "Answer complete. Sources: {n}.",
    sources: "Sources",
    source: "Source {n}: {place}",
    related: "The nearest sections",
    code: "Code",
    copy: "Copy",
    copied: "Copied",

    quotes_no_key: "Closest passages; no written answer because no API key is set.",
    quotes_budget: "Closest passages; no written answer because today’s budget is used up.",
    quotes_upstream: "Closest passages; no written answer because the model could not be reached.",
    quotes_guarded: "Closest passages; no written answer to this question.",
    quotes_other: "Closest passages, quoted from the articles.",

    abstained_below_floor: "The articles don’t seem to cover this.",
    abstained_not_relevant: "The articles come close, but nothing found in them answers this.",
    abstained_model_declined: "The passages found don’t say enough to answer this.",
    abstained_citations_failed:
      "An answer was written, but its citations did not hold up, so it is not shown.",
    abstained_other: "The articles don’t say.",
    refused: "This question can’t be answered here.",

    stopped: "Stopped.",
    stopped_partly: "Stopped. The answer above is incomplete.",
    interrupted: "The connection broke before an answer arrived.",
    interrupted_partly: "The connection broke. The answer above is incomplete.",
    error_unreachable: "The service can’t be reached. Check your connection and try again.",
    error_question_too_long: "The question is too long.",
    error_malformed_body: "The service could not read the question.",
    error_rate_limited: "Too many questions in a short time. Please wait a little.",
    error_rate_limited_for: "Too many questions in a short time. Please try again in {s} seconds.",
    error_store_unavailable: "The articles can’t be searched right now. Please try again shortly.",
    error_upstream: "The answer could not be written right now. Please try again shortly.",
    error_internal: "Something went wrong on our side.",
    error_other: "The question could not be answered.",
    retry: "Try again",

    helpful: "Was this helpful?",
    up: "Yes, helpful",
    down: "No, not helpful",
    what: "What was wrong?",
    reason_wrong: "It is wrong",
    reason_incomplete: "Something is missing",
    reason_off_topic: "It answers another question",
    reason_citation: "A citation doesn’t fit",
    note: "Anything else (optional)",
    send: "Send",
    thanks: "Thank you.",
    not_sent: "That didn’t get through. Please try again.",
  },
};

/** `say(key, values)` in a language, the page's own words on top; unknown keys as `family_other`. */
export function sayIn(language, own) {
  const primary = language.toLowerCase().split("-")[0];
  const words = { ...STRINGS.en, ...STRINGS[primary], ...own };
  return (key, values = {}) => {
    const known = Object.hasOwn(words, key) ? key : key.replace(/_.*/s, "_other");
    return String(words[known]).replace(/\{(\w+)\}/g, (hole, name) => String(values[name] ?? hole));
  };
}
