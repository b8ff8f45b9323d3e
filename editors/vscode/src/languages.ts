/** The list of languages in which nothing is suggested, with one language turned. */
export function toggled(off: readonly string[], language: string): string[] {
  return off.includes(language) ? off.filter((other) => other !== language) : [...off, language].sort();
}
