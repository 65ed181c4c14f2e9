/** A line of a chart: its points from left to right. */
type Line = { readonly name: string; readonly points: readonly (readonly [x: number, y: number])[] };

export type Chart = {
  readonly title: string;
  /** What the horizontal axis counts. */
  readonly of: string;
  readonly lines: readonly Line[];
};

const [WIDTH, HEIGHT] = [640, 320];
const PLOT = { left: 64, right: 616, top: 64, bottom: 276 } as const;

/** The classes of the lines, each with a colour on a light and on a dark ground. */
const COLOURS = [
  ['#0969da', '#58a6ff'],
  ['#bc4c00', '#f0883e'],
  ['#1a7f37', '#3fb950'],
  ['#8250df', '#bc8cff'],
  ['#57606a', '#8b949e'],
  ['#bf3989', '#f778ba'],
] as const;

const STYLES = [
  'text { font: 12px system-ui, sans-serif } .title { font-size: 14px; font-weight: 600 }',
  'polyline { fill: none; stroke-width: 2 } .grid { stroke: #8c959f; stroke-opacity: .35 }',
].join(' ');

/** Draws lines over axes that both begin at 0, so that what grows linearly is a straight line. As SVG, with its own ground. */
export function drawChart({ title, of, lines }: Chart): string {
  const points = lines.flatMap((line) => line.points);
  const [xs, ys] = [ticks(Math.max(...points.map(([x]) => x))), ticks(Math.max(...points.map(([, y]) => y)))];
  const x = (value: number) => place(value, xs.at(-1)!, PLOT.left, PLOT.right);
  const y = (value: number) => place(value, ys.at(-1)!, PLOT.bottom, PLOT.top);
  const drawn = lines.map((line, index) => {
    const corners = line.points.map((point) => [x(point[0]), y(point[1])] as const);
    return [
      `<g class="line-${index % COLOURS.length}">`,
      `<polyline points="${corners.map((corner) => corner.join()).join(' ')}"/>`,
      ...corners.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="3"/>`),
      `<text x="${PLOT.left + (index % 3) * 184}" y="${42 + Math.floor(index / 3) * 14}">${escaped(line.name)}</text>`,
      '</g>',
    ].join('');
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<style>${STYLES} ${styles(0)} @media (prefers-color-scheme: dark) { ${styles(1)} }</style>`,
    `<rect class="ground" width="${WIDTH}" height="${HEIGHT}"/>`,
    `<text x="16" y="24" class="title">${escaped(title)}</text>`,
    ...ys.map((value) => `<path class="grid" d="M${PLOT.left} ${y(value)}H${PLOT.right}"/>`),
    ...ys.map((value) => `<text x="${PLOT.left - 8}" y="${y(value) + 4}" text-anchor="end">${value}</text>`),
    ...xs.map((value) => `<text x="${x(value)}" y="${PLOT.bottom + 18}" text-anchor="middle">${value}</text>`),
    `<text x="${(PLOT.left + PLOT.right) / 2}" y="${HEIGHT - 8}" text-anchor="middle">${escaped(of)}</text>`,
    ...drawn,
    '</svg>\n',
  ].join('\n');
}

/** Round values from 0 to the first one that isn't below the largest: at most seven. */
function ticks(largest: number): readonly number[] {
  const rough = (largest || 1) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough)!;
  return Array.from({ length: Math.ceil((largest || 1) / step) + 1 }, (_, index) =>
    Number((index * step).toPrecision(6)),
  );
}

/** With one decimal. */
function place(value: number, end: number, from: number, to: number): number {
  return Math.round(10 * (from + (value / end) * (to - from))) / 10;
}

function styles(scheme: 0 | 1): string {
  const [ground, ink] = [['#ffffff', '#1f2328'] as const, ['#0d1117', '#e6edf3'] as const][scheme]!;
  const colours = COLOURS.map((pair, index) => {
    const line = `.line-${index}`;
    const { [scheme]: colour } = pair;
    return `${line} text, ${line} circle { fill: ${colour} } ${line} polyline { stroke: ${colour} }`;
  });
  return `.ground { fill: ${ground} } text { fill: ${ink} } ${colours.join(' ')}`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
