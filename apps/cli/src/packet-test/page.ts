import { isIPv6 } from 'node:net';
import { printable } from '@kube-semaphore/text';
import { tableLines } from '../output/table.ts';
import type { Terminal } from '../output/terminal.ts';
import type { Outcome } from './probe.ts';
import { type Refused, refusedLine } from './refused.ts';

/** Raised by a change that a reader of the last version can't read. */
const SCHEMA_VERSION = '1';

/** What came through from a cluster. */
export type Call = Outcome & {
  readonly from: string;
  /** Why policies would not recognise the caller; null: they would, or it isn't known. */
  readonly source: string | null;
};

/** What a test found. */
export type Found = { readonly calls: readonly Call[]; readonly refused: readonly Refused[] };

export const isFine = (calls: readonly Call[]): boolean =>
  calls.length > 0 &&
  calls.every(({ small, full, source }) => [small, full, source].every((failure) => failure === null));

/** What a test found, for programs. */
export const testPage = ({ calls, refused }: Found): object => ({
  schemaVersion: SCHEMA_VERSION,
  ok: isFine(calls),
  calls,
  refused,
});

/** A row for each way, and then a line for each failure. */
export function testText({ calls, refused }: Found, paint: Terminal['paint']): string {
  const mark = (failure: string | null) =>
    failure === null
      ? { text: '✓', paint: (text: string) => paint('green', text) }
      : { text: '✗', paint: (text: string) => paint('red', text) };
  const rows = calls.map(({ from, to, by, url, small, full, source, sourceAddress, latencyMs, bytesPerSecond }) => [
    { text: from },
    { text: to },
    { text: wayOf(by, url) },
    mark(small),
    by === 'port' ? { text: '-' } : mark(full),
    sourceAddress === null ? { text: '-' } : mark(source),
    { text: latencyMs === null ? '-' : `${latencyMs.toFixed(1)} ms` },
    { text: bytesPerSecond === null ? '-' : `${(bytesPerSecond / 1e6).toFixed(1)} MB/s` },
  ]);
  const table = tableLines(['FROM', 'TO', 'BY', 'SMALL', 'FULL', 'SOURCE', 'LATENCY', 'THROUGHPUT'], rows);
  const failures = calls.flatMap(({ from, to, by, url, small, full, source }) =>
    (small === null ? [full, source] : [small]).flatMap((failure) => {
      const advice = by === 'port' ? ' (semaphore explain --probe finds the hop)' : '';
      return failure === null ? [] : [printable(`✗ ${from} to ${to}, ${url}: ${failure}${advice}`)];
    }),
  );
  const lines = [...failures, ...refused.map(refusedLine)];
  return `${[...table, ...(lines.length > 0 ? ['', ...lines] : [])].join('\n')}\n`;
}

function wayOf(by: Call['by'], url: string): string {
  if (by === 'port') return `port ${new URL(url).port}`;
  return by === 'pod' ? `pod IPv${isIPv6(hostOf(url)) ? 6 : 4}` : by;
}

const hostOf = (url: string): string => new URL(url).hostname.replace(/^\[|\]$/g, '');
