/** Why something that could be in a set isn't, or isn't as one would expect. */
export type Diagnostic = { readonly kind: 'expected' | 'problem'; readonly reason: string; readonly detail: string };

export type DiagnosticRegisterOptions = {
  /** How many there are now of a kind and reason; called whenever that changes. */
  readonly onCount: (labels: { kind: Diagnostic['kind']; reason: string }, count: number) => void;
  /** Something was left out that wasn't before; not called again while it stays so. */
  readonly onNew: (subject: string, left: Diagnostic) => void;
};

/** What is left out now, by what it is about: told once when it begins, and counted for as long as it lasts. */
export class DiagnosticRegister {
  readonly #options: DiagnosticRegisterOptions;
  readonly #bySubject = new Map<string, readonly Diagnostic[]>();
  readonly #counts = new Map<string, number>();

  constructor(options: DiagnosticRegisterOptions) {
    this.#options = options;
  }

  /** From now on, this and nothing else is left out of `subject` (a Pod, a set's key). */
  replace(subject: string, left: readonly Diagnostic[]): void {
    const before = this.#bySubject.get(subject) ?? [];
    if (before.length === 0 && left.length === 0) return;
    if (left.length === 0) this.#bySubject.delete(subject);
    else this.#bySubject.set(subject, left);
    const known = new Set(before.map(textOf));
    for (const item of before) this.#count(item, -1);
    for (const item of left) {
      this.#count(item, +1);
      if (!known.has(textOf(item))) this.#options.onNew(subject, item);
    }
  }

  /** Everything that is left out now, by subject. */
  all(): readonly (Diagnostic & { readonly subject: string })[] {
    return [...this.#bySubject.keys()]
      .toSorted()
      .flatMap((subject) => (this.#bySubject.get(subject) ?? []).map((left) => ({ subject, ...left })));
  }

  #count({ kind, reason }: Diagnostic, step: 1 | -1): void {
    // One reason can be of both kinds: an address that isn't allowed is a problem for a Pod, and none for a node's.
    const series = `${kind} ${reason}`;
    const count = (this.#counts.get(series) ?? 0) + step;
    this.#counts.set(series, count);
    this.#options.onCount({ kind, reason }, count);
  }
}

/** By which an item is known again. */
const textOf = ({ reason, detail }: Diagnostic): string => `${reason} ${detail}`;
