import { expect, it } from 'vitest';
import { Printer, type Paint } from './printer.ts';

const plain: Paint = (_, text) => text;

function printer({ width = 40, signal = new AbortController().signal, paint = plain } = {}) {
  const lines: string[] = [];
  return { lines, out: new Printer({ print: (line) => lines.push(line), paint, width, signal }) };
}

it('numbers steps, and nothing else', () => {
  const { lines, out } = printer();
  out.step('First', 'once');
  out.step('Second', 'again', ['a command']);
  out.heading('After that');
  const steps = ['', '1. First', '', '   once', '', '2. Second', '', '   again', '', '     a command'];
  expect(lines).toEqual([...steps, '', 'After that']);
});

it('keeps paragraphs within the width, margin included', () => {
  const { lines, out } = printer({ width: 12 });
  out.say('three four five');
  expect(lines).toEqual(['', '   three', '   four five']);
});

it('leaves lines that are shown as they are', () => {
  const { lines, out } = printer({ width: 12 });
  out.show(['a line that is longer than that', '  indented']);
  expect(lines).toEqual(['', '     a line that is longer than that', '       indented']);
});

it('shows objects as kubectl does, with a long selector in lines', () => {
  const { lines, out } = printer();
  const selector = ['name', 'namespace', 'cluster'].map((key) => `semaphore.uw.systems/${key} == 'x'`).join(' && ');
  const spec = { nets: ['fd00::1/128'], selector };
  out.showYaml({ kind: 'NetworkPolicy', metadata: { labels: { mirrored: 'true' } }, spec });
  expect(lines).toEqual([
    '',
    '     kind: NetworkPolicy',
    '     metadata:',
    '       labels:',
    '         mirrored: "true"',
    '     spec:',
    '       nets:',
    '       - fd00::1/128',
    "       selector: semaphore.uw.systems/name == 'x' &&",
    "         semaphore.uw.systems/namespace == 'x' &&",
    "         semaphore.uw.systems/cluster == 'x'",
  ]);
});

it('prints results, and hangs their text under its beginning', () => {
  const { lines, out } = printer({ width: 26 });
  out.result('it is right', 14, ' again');
  expect(lines).toEqual(['', '   ✓   14 ms  it is right', '              again']);
});

it('measures lines without their colour', () => {
  const { lines, out } = printer({ width: 26, paint: (format, text) => `<${format}>${text}</>` });
  out.result('it is right', 14);
  expect(lines).toEqual(['', '   <green>✓   14 ms  </>it is right']);
});

it('prints nothing when the demo stops', () => {
  const controller = new AbortController();
  const { lines, out } = printer({ signal: controller.signal });
  controller.abort(new Error('stopped'));
  expect(() => out.say('anything')).toThrow('stopped');
  expect(lines).toEqual([]);
});
