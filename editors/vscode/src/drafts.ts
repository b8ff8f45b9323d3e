/**
 * Drafts as they develop: which are to be drawn, and how their text falls upon the lines that are there.
 *
 * A decoration cannot add lines, and adding them to the text itself would make it jump. So each line of a draft is drawn over
 * the line that it replaces, and what has no line to replace follows the last one, with a sign for each line end.
 */

export interface Place {
  readonly line: number;
  readonly character: number;
}

export interface Draft {
  readonly token: string;
  readonly uri: string;
  readonly version: number | undefined;
  readonly start: Place;
  readonly end: Place;
  readonly tokens: readonly Piece[];
}

export interface Piece {
  readonly text: string;
  readonly isLocked: boolean;
}

/** What is drawn on one line of the document, from the left. */
export interface DrawnLine {
  readonly line: number;
  readonly pieces: readonly Piece[];
}

const LINE_END = " ↵ ";
const MOST_ON_A_LINE = 160;

/** The drafts that develop now, by token. */
export class Drafts {
  private readonly byToken = new Map<string, Draft>();

  /** Take what the server has told; the document that has to be drawn anew, if any. */
  told(raw: unknown): string | undefined {
    const said = record(raw);
    const token = said["token"];
    const document = record(said["textDocument"]);
    const uri = document["uri"];
    if (typeof token !== "string" || typeof uri !== "string") {
      return undefined;
    }
    const [start, end] = [placeOf(record(said["range"])["start"]), placeOf(record(said["range"])["end"])];
    if (said["isDone"] === true || start === undefined || end === undefined) {
      this.byToken.delete(token);
      return uri;
    }
    const version = typeof document["version"] === "number" ? document["version"] : undefined;
    this.byToken.set(token, { token, uri, version, start, end, tokens: pieces(said["tokens"]) });
    return uri;
  }

  /** Those of a document, as it is in this version: after an edit their places are no longer true. */
  of(uri: string, version: number): Draft[] {
    return [...this.byToken.values()].filter((draft) => draft.uri === uri && (draft.version ?? version) === version);
  }

  /** The document was edited or closed. */
  forget(uri: string): void {
    for (const [token, draft] of this.byToken) {
      if (draft.uri === uri) {
        this.byToken.delete(token);
      }
    }
  }

  clear(): void {
    this.byToken.clear();
  }
}

export function drawn({ start, end, tokens }: Draft): DrawnLine[] {
  const last = end.line - start.line;
  const lines: Piece[][] = [[]];
  for (const { text, isLocked } of tokens) {
    text.split(/\r\n|\r|\n/).forEach((part, index) => {
      if (index > 0) {
        lines.length <= last ? lines.push([]) : lines.at(-1)!.push({ text: LINE_END, isLocked });
      }
      lines.at(-1)!.push({ text: part, isLocked });
    });
  }
  return lines.map((line, index) => ({ line: start.line + index, pieces: joined(shortened(line)) }));
}

/** Neighbours of one kind are one piece: the fewer there are, the calmer the drawing. */
function joined(line: readonly Piece[]): Piece[] {
  const all: Piece[] = [];
  for (const piece of line.filter(({ text }) => text)) {
    const before = all.at(-1);
    before?.isLocked === piece.isLocked ? all.splice(-1, 1, { ...before, text: before.text + piece.text }) : all.push(piece);
  }
  return all;
}

/** Not more pieces than this: the last takes in all that follow, as still open. */
export function few(line: readonly Piece[], most: number): readonly Piece[] {
  const rest = line.slice(most - 1);
  return rest.length < 2 ? line : [...line.slice(0, most - 1), { text: rest.map(({ text }) => text).join(""), isLocked: false }];
}

function shortened(line: readonly Piece[]): Piece[] {
  let room = MOST_ON_A_LINE;
  return line.map(({ text, isLocked }) => {
    const kept = [...text].slice(0, room).join("");
    room -= [...kept].length;
    return { text: kept, isLocked };
  });
}

function pieces(raw: unknown): Piece[] {
  return (Array.isArray(raw) ? raw : []).map(record).map((one) => ({
    text: typeof one["text"] === "string" ? one["text"] : "",
    isLocked: one["isLocked"] === true,
  }));
}

function placeOf(raw: unknown): Place | undefined {
  const { line, character } = record(raw);
  return typeof line === "number" && typeof character === "number" ? { line, character } : undefined;
}

function record(raw: unknown): Record<string, unknown> {
  return (typeof raw === "object" && raw !== null ? raw : {}) as Record<string, unknown>;
}
