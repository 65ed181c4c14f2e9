import { printable } from '@kube-semaphore/text';
import { colours, type Labelled, tunnelLabel } from './labels.ts';

const COLUMN = 240;
const GAP = 160;
const LINE = 22;
const TOP = 50;
const MARGIN = 30;

/** A picture: a column for each cluster, with its nodes and its mirrored Services; a line for each tunnel. */
export function svgOf({ clusters, tunnels }: Labelled): string {
  const rows = clusters.map(({ nodes, services }) => nodes.length + services.length);
  const bottom = TOP + Math.max(0, ...rows) * LINE + 16;
  const boxes = clusters.map(({ name, nodes, services }, i) => {
    const x = GAP / 2 + i * (COLUMN + GAP);
    const lines = [...nodes.map((node) => node.label), ...services];
    const texts = [
      text(x + 12, TOP - 12, name, 'bold'),
      ...lines.map((line, row) => text(x + 24, rowOf(row) + 4, line)),
      ...nodes.map((_, row) => `<circle cx="${x + 12}" cy="${rowOf(row)}" r="4"/>`),
    ];
    const height = TOP + lines.length * LINE;
    return `<rect x="${x}" y="16" width="${COLUMN}" height="${height}" rx="6" fill="none" stroke="#888"/>${texts.join('')}`;
  });
  const places = new Map(
    clusters.flatMap(({ nodes }, column) => nodes.map(({ id }, row) => [id, { column, row }] as const)),
  );
  const paths = tunnels.map(({ ends, tunnel }) => {
    const [a, b] = ends.map((id) => places.get(id)!).toSorted((one, other) => one.column - other.column);
    const from = GAP / 2 + a!.column * (COLUMN + GAP) + COLUMN;
    const to = GAP / 2 + b!.column * (COLUMN + GAP);
    const [y1, y2] = [rowOf(a!.row), rowOf(b!.row)];
    // Under the columns between them: the middle of a curve is at three quarters of the height of its control points.
    const under = Math.round(((bottom + MARGIN) * 4) / 3);
    const [c1, c2] = b!.column - a!.column > 1 ? [under, under] : [y1, y2];
    const curve = `M${from} ${y1} C${from + GAP / 2} ${c1} ${to - GAP / 2} ${c2} ${to} ${y2}`;
    const title = `<title>${xml(tunnelLabel(tunnel))}</title>`;
    return `<path d="${curve}" fill="none" stroke="${colours[tunnel.state]}" stroke-width="2">${title}</path>`;
  });
  const [width, height] = [clusters.length * (COLUMN + GAP), bottom + 2 * MARGIN];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="13">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    ...boxes,
    ...paths,
    '</svg>\n',
  ].join('\n');
}

const rowOf = (row: number): number => TOP + row * LINE + 8;

const text = (x: number, y: number, content: string, weight = 'normal'): string =>
  `<text x="${x}" y="${y}" font-weight="${weight}">${xml(content)}</text>`;

const xml = (content: string): string =>
  printable(content).replaceAll(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
