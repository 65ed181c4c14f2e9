import { tunnelLabel } from '../../graph/labels.ts';
import type { Place } from '../../graph/graph.ts';
import type { Line, Picture } from '../picture.ts';

type Point = { readonly x: number; readonly y: number };

/** A picture whose clusters are parts of a circle, their nodes points on it, and tunnels lines across it. */
export type Chords = {
  readonly clusters: readonly {
    readonly name: string;
    readonly isTroubled: boolean;
    readonly nodes: readonly (Point & { readonly name: string })[];
    /** An SVG path along the circle. */
    readonly arc: string;
    readonly label: Point & { readonly turn: number; readonly anchor: 'start' | 'end' };
  }[];
  readonly lines: readonly { readonly path: string; readonly state: Line['state']; readonly title: string }[];
};

/** In units of the picture, whose middle is at 0. */
export const RADIUS = 340;
const LABEL_RADIUS = RADIUS + 22;

/** Where to draw what. */
export function chordsOf({ clusters, lines }: Picture): Chords {
  // A space between two clusters is as wide as one between two nodes.
  const units = clusters.reduce((sum, { nodes }) => sum + Math.max(1, nodes.length) + 1, 0);
  const step = (2 * Math.PI) / Math.max(1, units);
  const places = new Map<string, Point>();
  let unit = 0;
  const placed = clusters.map(({ name, nodes, isTroubled }) => {
    const count = Math.max(1, nodes.length);
    const [start, end] = [unit * step, (unit + count - 1) * step];
    const middle = (start + end) / 2;
    const points = nodes.map((node, i) => ({ name: node, ...pointAt(start + i * step, RADIUS) }));
    for (const { name: node, x, y } of points) places.set(keyOf({ cluster: name, node }), { x, y });
    places.set(keyOf({ cluster: name, node: '' }), pointAt(middle, RADIUS));
    unit += count + 1;
    const isLeft = Math.sin(middle) < 0;
    const degrees = (middle * 180) / Math.PI - 90;
    return {
      name,
      isTroubled,
      nodes: points,
      arc: arcOf(start - step / 3, end + step / 3),
      label: {
        ...pointAt(middle, LABEL_RADIUS),
        turn: round(isLeft ? degrees + 180 : degrees),
        anchor: isLeft ? ('end' as const) : ('start' as const),
      },
    };
  });
  return {
    clusters: placed,
    lines: lines.flatMap((line) => {
      const [a, b] = line.ends.map((end) => places.get(keyOf(end)));
      if (a === undefined || b === undefined) return [];
      return [{ path: `M${a.x} ${a.y}Q0 0 ${b.x} ${b.y}`, state: line.state, title: titleOf(line) }];
    }),
  };
}

const keyOf = ({ cluster, node }: Place): string => JSON.stringify([cluster, node]);

/** Clockwise from the top. */
const pointAt = (angle: number, radius: number): Point => ({
  x: round(Math.sin(angle) * radius),
  y: round(-Math.cos(angle) * radius),
});

const round = (value: number): number => Math.round(value * 10) / 10;

function arcOf(start: number, end: number): string {
  const [from, to] = [pointAt(start, RADIUS + 12), pointAt(end, RADIUS + 12)];
  return `M${from.x} ${from.y}A${RADIUS + 12} ${RADIUS + 12} 0 ${end - start > Math.PI ? 1 : 0} 1 ${to.x} ${to.y}`;
}

function titleOf({ ends, tunnels, ...line }: Line): string {
  const [a, b] = ends.map(({ cluster, node }) => (node === '' ? cluster : `${cluster} / ${node}`));
  return `${a} to ${b}: ${tunnels === 1 ? '' : `${tunnels} tunnels, the worst: `}${tunnelLabel({ ends, ...line })}`;
}
