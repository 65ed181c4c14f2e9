import { describe, expect, it } from 'vitest';
import { drawChart } from './chart.ts';

const lineOf = (points: readonly (readonly [number, number])[]) => {
  const svg = drawChart({ title: 'Time', of: 'remotes', lines: [{ name: 'policy', points }] });
  const corners = /polyline points="([^"]*)"/.exec(svg)![1]!.split(' ');
  return corners.map((corner) => corner.split(',').map(Number) as [number, number]);
};

describe('drawChart', () => {
  it('draws what grows linearly as a straight line from the origin', () => {
    const [[x0, y0], [x1, y1], [x2, y2]] = lineOf([
      [0, 0],
      [100, 4],
      [250, 10],
    ]) as [number, number][] as [[number, number], [number, number], [number, number]];
    expect([x0, y0]).toEqual([64, 276]);
    expect((y1 - y0) / (x1 - x0)).toBeCloseTo((y2 - y0) / (x2 - x0), 2);
    expect(y2).toBeLessThan(y1);
  });

  it('keeps all points inside the axes, whatever their size', () => {
    for (const most of [0, 0.003, 0.99, 1, 7, 250, 251, 123_456])
      for (const [x, y] of lineOf([
        [1, most / 2],
        [most + 1, most],
      ])) {
        expect(x).toBeGreaterThanOrEqual(64);
        expect(x).toBeLessThanOrEqual(616);
        expect(y).toBeGreaterThanOrEqual(64);
        expect(y).toBeLessThanOrEqual(276);
      }
  });

  it.each([
    { largest: 250, want: ['0', '50', '100', '150', '200', '250'] },
    { largest: 0.7, want: ['0', '0.2', '0.4', '0.6', '0.8'] },
    { largest: 12.2, want: ['0', '2.5', '5', '7.5', '10', '12.5'] },
  ])('labels an axis to $largest with round values', ({ largest, want }) => {
    const svg = drawChart({ title: 'T', of: 'remotes', lines: [{ name: 'a', points: [[1, largest]] }] });
    expect(Array.from(svg.matchAll(/text-anchor="end">([^<]*)</g), ([, label]) => label)).toEqual(want);
  });

  it('names each line, the axis and itself, in text that no reader takes for markup', () => {
    const lines = ['a < b', 'c & d'].map((name) => ({ name, points: [[1, 1]] as const }));
    const svg = drawChart({ title: 'p99 < 1 s', of: 'remotes', lines });
    for (const text of ['<title>p99 &lt; 1 s</title>', '>a &lt; b</text>', '>c &amp; d</text>', '>remotes</text>'])
      expect(svg).toContain(text);
  });

  it('has room for the names of six lines', () => {
    const lines = Array.from({ length: 6 }, (_, index) => ({ name: `line ${index}`, points: [[1, 1]] as const }));
    const svg = drawChart({ title: 'T', of: 'remotes', lines });
    const places = Array.from(svg.matchAll(/<text x="(\d+)" y="(\d+)">line/g), ([, x, y]) => `${x},${y}`);
    expect(new Set(places).size).toBe(6);
    for (const place of places) expect(Number(place.split(',')[0])).toBeLessThan(500);
  });

  it('has a light and a dark ground, each with text of the other', () => {
    const svg = drawChart({ title: 'T', of: 'remotes', lines: [{ name: 'a', points: [[1, 1]] }] });
    const [light, dark] = svg.split('prefers-color-scheme: dark');
    expect(light).toContain('.ground { fill: #ffffff } text { fill: #1f2328 }');
    expect(dark).toContain('.ground { fill: #0d1117 } text { fill: #e6edf3 }');
  });
});
