import type { Logger } from '@kube-semaphore/runtime';

/** Why an object or a part of it is skipped, or isn't used as one would expect. */
export type Diagnostic = { readonly kind: 'expected' | 'problem'; readonly reason: string; readonly detail: string };

/** How many diagnostics have a kind and a reason. `example`: the subject and the detail of one, with text of others. */
export type DiagnosticCount = Pick<Diagnostic, 'kind' | 'reason'> & {
  readonly count: number;
  readonly example: string;
};

export type DiagnosticRegisterOptions = {
  /** The number of diagnostics of a kind and reason changed. */
  readonly onCount: (labels: { kind: Diagnostic['kind']; reason: string }, count: number) => void;
  /** A subject has a diagnostic that it didn't have before. */
  readonly onNew: (subject: string, diagnostic: Diagnostic) => void;
};

/** The present diagnostics, by subject: each is reported when it begins, and counted for as long as it lasts. */
export class DiagnosticRegister {
  readonly #options: DiagnosticRegisterOptions;
  readonly #bySubject = new Map<string, readonly Diagnostic[]>();
  readonly #counts = new Map<string, number>();

  constructor(options: DiagnosticRegisterOptions) {
    this.#options = options;
  }

  /** Replaces all diagnostics of `subject` (a Pod, a set's key). */
  replace(subject: string, diagnostics: readonly Diagnostic[]): void {
    const before = this.#bySubject.get(subject) ?? [];
    if (before.length === 0 && diagnostics.length === 0) return;
    if (diagnostics.length === 0) this.#bySubject.delete(subject);
    else this.#bySubject.set(subject, diagnostics);
    const known = new Set(before.map(textOf));
    for (const diagnostic of before) this.#count(diagnostic, -1);
    for (const diagnostic of diagnostics) {
      this.#count(diagnostic, +1);
      if (!known.has(textOf(diagnostic))) this.#options.onNew(subject, diagnostic);
    }
  }

  /** All present diagnostics, sorted by subject. */
  all(): readonly (Diagnostic & { readonly subject: string })[] {
    return [...this.#bySubject.keys()]
      .toSorted()
      .flatMap((subject) => this.#bySubject.get(subject)!.map((diagnostic) => ({ subject, ...diagnostic })));
  }

  /** How many there are now of each kind and reason, sorted by both. */
  counts(): readonly DiagnosticCount[] {
    const examples = this.#examples();
    return [...examples.keys()].toSorted().map((series) => {
      const [kind, reason] = series.split(' ') as [Diagnostic['kind'], string];
      return { kind, reason, count: this.#counts.get(series)!, example: examples.get(series)! };
    });
  }

  /** The oldest diagnostic of each series that there is. */
  #examples(): ReadonlyMap<string, string> {
    const examples = new Map<string, string>();
    for (const [subject, diagnostics] of this.#bySubject)
      for (const diagnostic of diagnostics) {
        const series = seriesOf(diagnostic);
        if (!examples.has(series)) examples.set(series, `${subject}: ${diagnostic.detail}`);
      }
    return examples;
  }

  #count({ kind, reason }: Diagnostic, step: 1 | -1): void {
    const series = seriesOf({ kind, reason });
    const count = (this.#counts.get(series) ?? 0) + step;
    this.#counts.set(series, count);
    this.#options.onCount({ kind, reason }, count);
  }
}

/** What `skippedObjects` of the shared metrics is. */
type SkippedObjects = {
  set(
    labels: { readonly remote: string; readonly kind: Diagnostic['kind']; readonly reason: string },
    count: number,
  ): void;
};

/** The diagnostics of a cluster: counted in `skipped_objects`, and each new one in the log, a problem as a warning. */
export const skippedIn = (cluster: string, log: Logger, skippedObjects: SkippedObjects): DiagnosticRegister =>
  new DiagnosticRegister({
    onCount: (labels, count) => skippedObjects.set({ remote: cluster, ...labels }, count),
    onNew: (subject, { kind, reason, detail }) =>
      log[kind === 'problem' ? 'warn' : 'debug']({ cluster, subject, reason, detail }, 'skipped'),
  });

/** One reason can have both kinds: an address that isn't allowed is a problem for a Pod, and expected for a node's. */
const seriesOf = ({ kind, reason }: Pick<Diagnostic, 'kind' | 'reason'>): string => `${kind} ${reason}`;

const textOf = ({ reason, detail }: Diagnostic): string => `${reason} ${detail}`;
