import { tunnelLabel } from '../../graph/labels.ts';
import type { Place } from '../../graph/graph.ts';
import type { Line, Picture } from '../picture.ts';

type Point = { readonly x: number; readonly y: number };

/** Of a text that leads away from the middle. */
type Label = Point & { readonly turn: number; readonly anchor: 'start' | 'middle' | 'end' };

type Node = Point & { readonly name: string; readonly label: Label };

/** A picture whose clusters are parts of a circle, their nodes points on it, and tunnels lines across it. */
export type Chords = {
  readonly clusters: readonly {
    readonly name: string;
    readonly isTroubled: boolean;
    readonly nodes: readonly Node[];
    /** An SVG path along the circle. */
    readonly arc: string;
    readonly label: Label;
  }[];
  /** The worst last: they cover the others. */
  readonly lines: readonly { readonly path: string; readonly state: Line['state']; readonly title: string }[];
  readonly hasNodeNames: boolean;
  /** Of a square around all of it, whose middle is at 0. */
  readonly size: number;
};

const RADIUS = 300;
const ARC_RADIUS = RADIUS + 12;
const NODE_RADIUS = ARC_RADIUS + 14;

/** More texts overlap if they aren't turned. */
const MAX_UPRIGHT = 24;

/** More texts can't be read. */
const MAX_NODE_NAMES = 100;

/** Longer names are cut. */
export const MAX_NAME = 24;

/** Where to draw what. */
export function chordsOf({ clusters, lines }: Picture): Chords {
  const hasNodeNames = clusters.reduce((sum, { nodes }) => sum + nodes.length, 0) <= MAX_NODE_NAMES;
  // A space between two clusters is as wide as one between two nodes.
  const units = clusters.reduce((sum, { nodes }) => sum + Math.max(1, nodes.length) + 1, 0);
  const step = (2 * Math.PI) / Math.max(1, units);
  const longest = hasNodeNames ? Math.max(0, ...clusters.flatMap((each) => each.nodes.map(lengthOf))) : 0;
  const labelRadius = NODE_RADIUS + 8 * longest + 10;
  const places = new Map<string, Point>();
  let unit = 0;
  const placed = clusters.map(({ name, nodes, isTroubled }) => {
    const count = Math.max(1, nodes.length);
    const [start, end] = [unit * step, (unit + count - 1) * step];
    unit += count + 1;
    const points = nodes.map((node, i): Node => {
      const angle = start + i * step;
      return { name: node, ...pointAt(angle, RADIUS), label: turnedAt(angle, NODE_RADIUS) };
    });
    for (const { name: node, x, y } of points) places.set(keyOf({ cluster: name, node }), { x, y });
    const middle = (start + end) / 2;
    places.set(keyOf({ cluster: name, node: '' }), pointAt(middle, RADIUS));
    return {
      name,
      isTroubled,
      nodes: points,
      arc: arcOf(start - step / 3, end + step / 3),
      label: clusters.length > MAX_UPRIGHT ? turnedAt(middle, labelRadius) : uprightAt(middle, labelRadius),
    };
  });
  return {
    clusters: placed,
    lines: lines.toReversed().flatMap((line) => {
      const [a, b] = line.ends.map((end) => places.get(keyOf(end)));
      if (a === undefined || b === undefined) return [];
      return [{ path: `M${a.x} ${a.y}Q0 0 ${b.x} ${b.y}`, state: line.state, title: titleOf(line) }];
    }),
    hasNodeNames,
    size: 2 * (labelRadius + 20 + 10 * Math.max(0, ...clusters.map(({ name }) => lengthOf(name)))),
  };
}

const lengthOf = (name: string): number => Math.min(MAX_NAME, name.length);

const keyOf = ({ cluster, node }: Place): string => JSON.stringify([cluster, node]);

/** Clockwise from the top. */
const pointAt = (angle: number, radius: number): Point => ({
  x: round(Math.sin(angle) * radius),
  y: round(-Math.cos(angle) * radius),
});

const round = (value: number): number => Math.round(value * 10) / 10;

function turnedAt(angle: number, radius: number): Label {
  const isLeft = Math.sin(angle) < 0;
  const degrees = (angle * 180) / Math.PI - 90;
  return {
    ...pointAt(angle, radius),
    turn: round(isLeft ? degrees + 180 : degrees),
    anchor: isLeft ? 'end' : 'start',
  };
}

function uprightAt(angle: number, radius: number): Label {
  const side = Math.sin(angle);
  return { ...pointAt(angle, radius), turn: 0, anchor: Math.abs(side) < 0.3 ? 'middle' : side < 0 ? 'end' : 'start' };
}

function arcOf(start: number, end: number): string {
  const [from, to] = [pointAt(start, ARC_RADIUS), pointAt(end, ARC_RADIUS)];
  return `M${from.x} ${from.y}A${ARC_RADIUS} ${ARC_RADIUS} 0 ${end - start > Math.PI ? 1 : 0} 1 ${to.x} ${to.y}`;
}

function titleOf({ ends, tunnels, ...line }: Line): string {
  const [a, b] = ends.map(({ cluster, node }) => (node === '' ? cluster : `${cluster} / ${node}`));
  return `${a} to ${b}: ${tunnels === 1 ? '' : `${tunnels} tunnels, the worst: `}${tunnelLabel({ ends, ...line })}`;
}
