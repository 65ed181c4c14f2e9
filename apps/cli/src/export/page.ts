import type { ServiceImport } from '@kube-semaphore/kube-objects';
import { printable } from '@kube-semaphore/text';
import { tableLines } from '../output/table.ts';
import type { Terminal } from '../output/terminal.ts';
import { kubectl } from '../explain/facts.ts';
import type { ServiceAt, Written } from './service-exports.ts';

/** Raised by a change that a reader of the last version can't read. */
const SCHEMA_VERSION = '1';

/** What became of a Service in one cluster. */
export type Outcome = {
  /** The context. */
  readonly cluster: string;
  /** Of its own export; null: nothing was written there. */
  readonly export: Written | null;
  readonly import: {
    readonly type: string;
    readonly ips: readonly string[];
    readonly clusters: readonly string[];
  } | null;
  readonly problems: readonly string[];
};

/** What became of a Service. */
export type Result = ServiceAt & {
  readonly clusters: readonly Outcome[];
  /** Commands that take it out of the global Services. */
  readonly next: readonly string[];
};

export const importOf = (found: ServiceImport | undefined): Outcome['import'] =>
  found === undefined
    ? null
    : {
        type: found.spec.type,
        ips: found.spec.ips,
        clusters: found.status.clusters.map(({ cluster }) => cluster),
      };

/** Whether there is no problem. */
export const isFine = (results: readonly Result[]): boolean =>
  results.every(({ clusters }) => clusters.every(({ problems }) => problems.length === 0));

/** The commands that take a Service out of the global Services of a selector. */
export const leaveCommands = (
  { namespace, name }: ServiceAt,
  { contexts, selector }: { readonly contexts: readonly string[]; readonly selector: string },
): readonly string[] => {
  const [, key] = /^\s*([^\s!=,]+)\s*(?:==?[^,]*)?(?:,|$)/.exec(selector) ?? [];
  return contexts.map((context) =>
    key === undefined
      ? kubectl(context, '-n', namespace, 'edit', 'service', name)
      : kubectl(context, '-n', namespace, 'label', 'service', name, `${key}-`),
  );
};

/** The results for programs. */
export const exportPage = (results: readonly Result[]): object => ({
  schemaVersion: SCHEMA_VERSION,
  ok: isFine(results),
  services: results,
});

/** The results for people. */
export function exportText(results: readonly Result[], paint: Terminal['paint']): string {
  const rows = results.flatMap(({ namespace, name, clusters }) =>
    clusters.map((each) =>
      [
        `${namespace}/${name}`,
        each.cluster,
        each.export ?? '-',
        each.import?.type ?? '-',
        each.import?.ips.join(', ') || '-',
        each.import?.clusters.join(', ') || '-',
      ].map((text) => ({ text })),
    ),
  );
  const problems = results.flatMap(({ namespace, name, clusters }) =>
    clusters.flatMap(({ cluster, problems: found }) =>
      found.map((problem) => `${paint('red', '✗')} ${printable(`${cluster}: ${namespace}/${name}: ${problem}`)}`),
    ),
  );
  const old = results.flatMap(({ namespace, name, next }) =>
    next.length === 0 ? [] : [`${name}.${namespace}.svc.cluster.global`, ...next.map((command) => `  ${command}`)],
  );
  const heading = 'These names can go when their clients use svc.clusterset.local:';
  const last = old.length === 0 ? [] : [heading, ...old.map((line) => printable(line))];
  const table = tableLines(['SERVICE', 'CLUSTER', 'EXPORT', 'IMPORT', 'ADDRESSES', 'FROM'], rows);
  const parts = [table, problems, last].filter((lines) => lines.length > 0);
  return `${parts.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}
