import { describe, expect, it } from 'vitest';
import type { Tunnel } from '../graph/graph.ts';
import { chordsOf } from './page/chords.ts';
import { pictureOf } from './picture.ts';

const tunnel = (
  a: readonly [string, string],
  b: readonly [string, string],
  handshakeAgeSeconds: number | null,
): Tunnel => ({
  ends: [
    { cluster: a[0], node: a[1] },
    { cluster: b[0], node: b[1] },
  ],
  state: handshakeAgeSeconds === null ? 'never' : 'up',
  handshakeAgeSeconds,
});

/** Each cluster has two nodes, and a tunnel from each node to each node of others. */
function meshOf(count: number) {
  const clusters = Array.from({ length: count }, (_, i) => ({ name: `c${i}`, nodes: ['n0', 'n1'] }));
  const tunnels = clusters.flatMap(({ name, nodes }, i) =>
    clusters
      .slice(i + 1)
      .flatMap((other) => nodes.flatMap((a) => other.nodes.map((b) => tunnel([name, a], [other.name, b], 5)))),
  );
  return { clusters, tunnels };
}

describe('a picture', () => {
  it('has each node and each tunnel of a small mesh', () => {
    const picture = pictureOf(meshOf(3), new Set(['c1']));
    expect(picture.clusters.map(({ nodes, isTroubled }) => [nodes.length, isTroubled])).toEqual([
      [2, false],
      [2, true],
      [2, false],
    ]);
    expect([picture.lines.length, picture.hidden]).toEqual([12, 0]);
  });

  it('has a line between two clusters of a large mesh, with the worst of their tunnels', () => {
    const { clusters, tunnels } = meshOf(20);
    const bad = tunnel(['c3', 'n0'], ['c4', 'n0'], null);
    const { lines, hidden } = pictureOf({ clusters, tunnels: [...tunnels, bad] }, new Set());
    expect([lines.length, hidden]).toEqual([190, 0]);
    expect(lines[0]).toEqual({
      ends: [
        { cluster: 'c3', node: '' },
        { cluster: 'c4', node: '' },
      ],
      state: 'never',
      handshakeAgeSeconds: null,
      tunnels: 5,
    });
  });

  it('is bounded, and says how many lines it lacks', () => {
    const { lines, hidden, counts } = pictureOf(meshOf(60), new Set());
    expect([lines.length, hidden]).toEqual([400, (60 * 59) / 2 - 400]);
    expect(counts).toEqual({ up: 60 * 59 * 2, stale: 0, never: 0 });
  });
});

describe('chords', () => {
  it.each([0, 1, 2, 60])('draw each line of %s clusters between two points of the circle', (count) => {
    const picture = pictureOf(meshOf(count), new Set());
    const { clusters, lines } = chordsOf(picture);
    expect([clusters.length, lines.length]).toEqual([count, picture.lines.length]);
    expect(new Set(lines.map(({ path }) => path)).size).toBe(lines.length);
    expect(JSON.stringify({ clusters, lines })).not.toMatch(/NaN|null/);
  });

  it('say what a line is', () => {
    expect(chordsOf(pictureOf(meshOf(2), new Set())).lines.at(-1)?.title).toBe(
      'c0 / n0 to c1 / n0: up, handshake 5 s ago',
    );
  });
});
