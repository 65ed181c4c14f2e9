import { describe, expect, it } from 'vitest';
import { onPlane1, type OnPlane1, overdueNodes } from './overdue.ts';

const MINUTE = 60_000;

/** What a Node announces, minute by minute; undefined: it is unknown. */
type Planes = readonly (0 | 1 | undefined)[];

/** What a Node is after a minute each of these planes; our plane 1 goes three minutes after it came home. */
function after(planes: Planes) {
  let [since, atHome]: [OnPlane1, number] = [new Map(), 3];
  const overdue = planes.map((plane, minute) => {
    const peers = plane === undefined ? undefined : [{ node: 'n1', plane }];
    atHome = plane === 0 ? atHome + 1 : plane === 1 ? 0 : atHome;
    const nowMs = minute * MINUTE;
    since = onPlane1({ before: since, peers, isThere: atHome < 3, nowMs });
    return overdueNodes(since, { peers, nowMs, timeoutMs: 10 * MINUTE });
  });
  return overdue.at(-1);
}

const times = (count: number, ...planes: Planes): Planes => Array.from({ length: count }, () => planes).flat();

describe('a Node', () => {
  it.each<{ name: string; planes: Planes; want: readonly string[] }>([
    { name: 'that rotates is not overdue', planes: times(10, 1), want: [] },
    { name: 'that rotates for ten minutes is', planes: times(11, 1), want: ['n1'] },
    { name: 'that goes home for a moment is, too', planes: [...times(9, 1), 0, 1], want: ['n1'] },
    { name: 'that does so again and again is', planes: [...times(20, 1, 0), 1], want: ['n1'] },
    { name: 'that is at home is not', planes: [...times(12, 1), 0], want: [] },
    {
      name: 'that came home, and rotates again later, is not',
      planes: [...times(9, 1), 0, 0, 0, ...times(5, 1)],
      want: [],
    },
    {
      name: 'of a remote that is unknown for a while is still',
      planes: [...times(5, 1), ...times(5, undefined), 1],
      want: ['n1'],
    },
  ])('$name', ({ planes, want }) => {
    expect(after(planes)).toEqual(want);
  });
});
