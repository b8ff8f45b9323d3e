/** Instructions given before, newest first, each once. */

const MOST_KEPT = 30;

export function remembered(history: readonly string[], instruction: string): string[] {
  const wanted = instruction.trim();
  return wanted ? [wanted, ...history.filter((earlier) => earlier !== wanted)].slice(0, MOST_KEPT) : [...history];
}
