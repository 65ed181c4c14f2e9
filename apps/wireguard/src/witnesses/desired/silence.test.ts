import { Witnesses } from '@kube-semaphore/naming';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { key, observedDevice, observedPeer } from '../../../test/support/builders.ts';
import { Heard } from '../../mesh/desired/heard.ts';
import {
  isAskDue,
  isSpreading,
  NOTHING_SILENT,
  type Silent,
  silentNow,
  stillInherited,
  timesOf,
  type Traffic,
  trafficOf,
} from './silence.ts';

const times = timesOf(75_000);
const heardAt = (heardMs: number, more: Partial<Traffic> = {}): Traffic => ({
  heardMs,
  hasSent: true,
  handshakeSeconds: 100,
  ...more,
});
const now = (before: Silent, traffic: Readonly<Record<string, Traffic>>, nowMs: number) => [
  ...silentNow(before, new Map(Object.entries(traffic)), nowMs, times).keys(),
];

describe('a node that the agent before us called silent', () => {
  it.each([
    { name: 'has said nothing', knownMs: 0, heardMs: 0, want: [['m1', 0]] },
    { name: 'is seen for the first time', knownMs: undefined, heardMs: 10_000, want: [['m1', 10_000]] },
    { name: 'is no peer yet', knownMs: undefined, heardMs: undefined, want: [['m1', undefined]] },
    {
      name: 'is no peer any more, as its device is made again',
      knownMs: 0,
      heardMs: undefined,
      want: [['m1', undefined]],
    },
    { name: 'has sent a byte', knownMs: 0, heardMs: 10_000, want: [] },
    { name: 'has said nothing for so long that we know', knownMs: -55_000, heardMs: -55_000, want: [] },
    { name: 'is another witness’s', knownMs: 0, heardMs: 0, watched: [], want: [] },
  ])('$name: $want is unknown', ({ knownMs, heardMs, watched = ['m1'], want }) => {
    const traffic = new Map(heardMs === undefined ? [] : [['m1', heardAt(heardMs)]]);
    const unknown = stillInherited(new Map([['m1', knownMs]]), new Set(watched), traffic, 20_000, times);
    expect([...unknown]).toEqual(want);
  });
});

describe('a node', () => {
  it.each([
    { name: 'is silent after that time without a byte', traffic: heardAt(0), want: ['m1'] },
    { name: 'is not silent a moment before', traffic: heardAt(1), want: [] },
    { name: 'is not silent if we sent nothing', traffic: heardAt(0, { hasSent: false }), want: [] },
  ])('$name', ({ traffic, want }) => {
    expect(now(NOTHING_SILENT, { m1: traffic }, 75_000)).toEqual(want);
  });

  it('is back with a newer handshake only, and is forgotten when it is gone', () => {
    const silent = new Map([['m1', 100]]);
    expect(now(silent, { m1: heardAt(200_000) }, 200_000)).toEqual(['m1']);
    expect(now(silent, { m1: heardAt(200_000, { handshakeSeconds: 0 }) }, 200_000)).toEqual(['m1']);
    expect(now(silent, { m1: heardAt(200_000, { handshakeSeconds: 101 }) }, 200_000)).toEqual([]);
    expect(now(silent, {}, 200_000)).toEqual([]);
  });
});

describe('the traffic of a node', () => {
  const [first, second] = [observedDevice([]), observedDevice([], { name: 'wireguard.c2.1' })];
  const peer = (receivedBytes: number, sentBytes: number, latestHandshakeSeconds?: number) =>
    observedPeer(key(1), { receivedBytes, sentBytes, latestHandshakeSeconds });

  it('begins when we first see it', () => {
    const heard = new Heard();
    const entry = { device: first, peer: peer(9, 9) };
    heard.update([{ ...first, peers: [entry.peer] }], 5);
    expect(trafficOf([entry], heard)).toEqual({ heardMs: 5, hasSent: false, handshakeSeconds: 0 });
  });

  it('is that of both devices while keys rotate', () => {
    const heard = new Heard();
    const see = (peers: readonly (readonly [number, number])[], nowMs: number) => {
      const entries = [first, second].map((device, i) => ({ device, peer: peer(...peers[i]!, 100 + i) }));
      heard.update(
        entries.map(({ device, peer: own }) => ({ ...device, peers: [own] })),
        nowMs,
      );
      return trafficOf(entries, heard);
    };
    see([[0, 0], [0, 0]], 1); // prettier-ignore
    expect(see([[0, 9], [5, 0]], 2)).toEqual({ heardMs: 2, hasSent: true, handshakeSeconds: 101 }); // prettier-ignore
    expect(see([[0, 9], [5, 0]], 3)).toEqual({ heardMs: 2, hasSent: true, handshakeSeconds: 101 }); // prettier-ignore
  });
});

describe('a question', () => {
  it.each([
    { after: 75_000, want: [25_000, 50_000, 75_000] },
    { after: 20_000, want: [2_500, 5_000, 7_500, 10_000, 12_500, 15_000, 17_500, 20_000] },
    { after: 300_000, want: [100_000, 200_000, 300_000] },
  ])('is sent in time for two answers within $after ms, which take fifteen seconds', ({ after, want }) => {
    const asked: number[] = [];
    const step = 500;
    for (let nowMs = 0; nowMs <= after; nowMs += step)
      if (isAskDue(heardAt(0), { lookedMs: nowMs - step, nowMs }, timesOf(after))) asked.push(nowMs);
    expect(asked).toEqual(want);
    expect(asked[1]! + 15_000).toBeLessThanOrEqual(after);
  });

  it('is not sent to a node that sends', () => {
    expect(isAskDue(heardAt(60_000), { lookedMs: 55_000, nowMs: 70_000 }, times)).toBe(false);
  });
});

type LastHeard = (nowMs: number) => number;

/** One agent that looks every five seconds. @returns when it reports, and what at last */
function reportsOf(lastHeard: ReadonlyMap<string, LastHeard>, untilMs: number) {
  let [silent, written] = [NOTHING_SILENT, ''];
  const atMs: number[] = [];
  for (let nowMs = 0; nowMs <= untilMs; nowMs += 5_000) {
    const traffic = new Map(
      [...lastHeard].map(([node, last]) => [node, heardAt(Math.min(last(nowMs), nowMs))] as const),
    );
    silent = silentNow(silent, traffic, nowMs, times);
    const names = [...silent.keys()].toSorted().join();
    const isEarly = nowMs - (atMs.at(-1) ?? -Infinity) < 10_000;
    if (names === written || isEarly || isSpreading(silent, traffic, nowMs, times)) continue;
    written = names;
    atMs.push(nowMs);
  }
  return { written, atMs };
}

/** The time between two questions, and that for the answer. */
const SPREAD_MS = 36_000;

describe('what it costs', () => {
  const names = (prefix: string) => Array.from({ length: 1_000 }, (_, i) => `${prefix}${i}`);
  const witnesses = new Witnesses(names('n'));
  const watchedBy = Map.groupBy(
    names('m').flatMap((node) => witnesses.of(node).map((agent) => ({ node, agent }))),
    ({ agent }) => agent,
  );
  const reports = (lastHeardMs: (node: string) => number) =>
    [...watchedBy.values()].map((watched) =>
      reportsOf(new Map(watched.map(({ node }) => [node, () => lastHeardMs(node)])), 400_000),
    );

  it('is five writes when one of 1,000 nodes dies, as 1,000 nodes see it', () => {
    const found = reports((node) => (node === 'm500' ? 100_000 : Infinity)).filter(({ atMs }) => atMs.length > 0);
    expect(found).toEqual(Array.from({ length: 5 }, () => ({ written: 'm500', atMs: [175_000] })));
  });

  it('is at most one write of each node when all die at once', () => {
    const found = reports((node) => 100_000 - ((Number(node.slice(1)) * 7_919) % SPREAD_MS));
    expect(found.filter(({ atMs }) => atMs.length !== 1)).toEqual([]);
  });
});

describe('a report', () => {
  const ages = fc.array(fc.integer({ min: 0, max: SPREAD_MS }), { minLength: 1, maxLength: 8 });

  it('is one if all die at once', () => {
    fc.assert(
      fc.property(ages, (found) => {
        const lastHeard = new Map(found.map((age, i) => [`m${i}`, () => 100_000 - age] as const));
        expect(reportsOf(lastHeard, 400_000)).toMatchObject({
          written: [...lastHeard.keys()].join(),
          atMs: [expect.any(Number)],
        });
      }),
    );
  });

  it('of one node among others that answer late waits for no longer than an answer takes', () => {
    fc.assert(
      fc.property(ages, (phases) => {
        const others = phases.map((phase, i): readonly [string, LastHeard] => [
          `m${i}`,
          (nowMs) => nowMs - ((nowMs + phase) % SPREAD_MS),
        ]);
        const { written, atMs } = reportsOf(new Map([...others, ['dead', () => 100_000]]), 400_000);
        expect(written).toBe('dead');
        expect(atMs[0]).toBeLessThanOrEqual(100_000 + 75_000 + SPREAD_MS + 10_000);
      }),
    );
  });
});
