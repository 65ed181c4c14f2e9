import { jsonPage } from '@kube-semaphore/text';
import { type CheckResult, isFine } from '../check/page.ts';
import { redact } from '../gather/redact.ts';
import type { Tunnel } from '../graph/graph.ts';
import type { Pair } from '../status/pairs.ts';
import { isTroubled, type Mesh, type ServiceRow, type SkippedRow, troubledIn } from './mesh.ts';
import { type Picture, pictureOf } from './picture.ts';
import { type Rows, rowsOf } from './rows.ts';

/** Raised by a change that a reader of the last version can't read. */
const SCHEMA_VERSION = '1';

/** The lists of the page. */
const lists = ['problems', 'pairs', 'tunnels', 'services', 'skipped'] as const;

type List = (typeof lists)[number];

/** What the page asks for. */
export type Query = {
  /** Rows that have this text, whatever its case is. */
  readonly filter: string;
  /** Only rows that need care. */
  readonly onlyTrouble: boolean;
  /** The first row of each list. */
  readonly from: Readonly<Record<List, number>>;
};

/** One page of a mesh of any size. Rows are those of `status`, `graph` and `check` with `-o json`. */
export type View = {
  readonly schemaVersion: string;
  readonly readAt: string;
  /** Of the whole mesh, whatever the query is. */
  readonly troubles: { readonly problems: number; readonly silentTunnels: number };
  /** For `explain`. */
  readonly contexts: readonly string[];
  readonly problems: Rows<string>;
  readonly pairs: Rows<Pair>;
  readonly tunnels: Rows<Tunnel>;
  readonly services: Rows<ServiceRow>;
  readonly skipped: Rows<SkippedRow>;
  readonly picture: Picture;
  /** Null until the first are done. */
  readonly check: Checked | null;
};

/** The results of all checks, and when they were done. */
export type Checked = {
  readonly checkedAt: string;
  readonly ok: boolean;
  /** With their first findings. */
  readonly checks: readonly (CheckResult & { readonly total: number })[];
};

/** A check of 250 clusters may find thousands. */
const MAX_FINDINGS = 20;

/** @throws RangeError if a number is not valid */
export function queryOf(params: URLSearchParams): Query {
  const from = (list: List): number => {
    const text = params.get(list) ?? '0';
    if (!/^\d{1,9}$/.test(text)) throw new RangeError(`${list} is not a row: use a number`);
    return Number(text);
  };
  return {
    filter: (params.get('filter') ?? '').trim().toLowerCase(),
    onlyTrouble: params.get('trouble') === '1',
    from: Object.fromEntries(lists.map((list) => [list, from(list)])) as Query['from'],
  };
}

/** What a page shows of a mesh. */
export function viewOf(
  { mesh, check }: { readonly mesh: Mesh; readonly check: Checked | null },
  { filter, onlyTrouble, from }: Query,
): View {
  const has = (...texts: readonly string[]): boolean => filter === '' || texts.join(' ').toLowerCase().includes(filter);
  const tunnels = mesh.graph.tunnels.filter(
    ({ ends: [a, b], state }) => (!onlyTrouble || state !== 'up') && has(a.cluster, a.node, b.cluster, b.node),
  );
  const pairs = mesh.pairs.filter((pair) => (!onlyTrouble || isTroubled(pair)) && has(pair.from, pair.to));
  const services = mesh.services.filter(
    (row) =>
      (!onlyTrouble || isEmpty(row)) && has(row.service, row.cluster, ...row.endpoints.map(({ cluster }) => cluster)),
  );
  const skipped = mesh.skipped.filter(
    (row) => (!onlyTrouble || row.kind === 'problem') && has(row.cluster, row.app, row.remote, row.reason),
  );
  return {
    schemaVersion: SCHEMA_VERSION,
    readAt: mesh.readAt,
    troubles: {
      problems: mesh.problems.length,
      silentTunnels: mesh.graph.tunnels.filter(({ state }) => state !== 'up').length,
    },
    contexts: mesh.reports.map(({ cluster }) => cluster),
    problems: rowsOf(
      mesh.problems.filter((problem) => has(problem)),
      from.problems,
    ),
    pairs: rowsOf(troubleFirst(pairs, isTroubled), from.pairs),
    tunnels: rowsOf(
      troubleFirst(tunnels, ({ state }) => state !== 'up'),
      from.tunnels,
    ),
    services: rowsOf(troubleFirst(services, isEmpty), from.services),
    skipped: rowsOf(
      troubleFirst(skipped, ({ kind }) => kind === 'problem'),
      from.skipped,
    ),
    picture: pictureOf({ clusters: mesh.graph.clusters, tunnels }, troubledIn(mesh)),
    check,
  };
}

const isEmpty = ({ endpoints }: ServiceRow): boolean => endpoints.every(({ ready }) => ready === 0);

const troubleFirst = <T>(rows: readonly T[], needsCare: (row: T) => boolean): readonly T[] => [
  ...rows.filter(needsCare),
  ...rows.filter((row) => !needsCare(row)),
];

export const checkedOf = (results: readonly CheckResult[], checkedAt: string): Checked => ({
  checkedAt,
  ok: isFine(results),
  checks: results.map((result) => ({
    ...result,
    total: result.findings.length,
    findings: result.findings.slice(0, MAX_FINDINGS),
  })),
});

/** JSON without anything that looks like a credential. */
export const safeJson = (page: object): string => jsonPage(page, redact);
