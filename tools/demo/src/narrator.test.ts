import { expect, it } from 'vitest';
import { Narrator, type Paint } from './narrator.ts';

const plain: Paint = (_, text) => text;

function narrator({ width = 40, signal = new AbortController().signal, paint = plain } = {}) {
  const lines: string[] = [];
  return { lines, tell: new Narrator({ print: (line) => lines.push(line), paint, width, signal }) };
}

it('numbers scenes, and nothing else', () => {
  const { lines, tell } = narrator();
  tell.scene('First');
  tell.scene('Second');
  tell.heading('After that');
  expect(lines).toEqual(['', '1. First', '', '2. Second', '', 'After that']);
});

it('keeps paragraphs within the width, margin included', () => {
  const { lines, tell } = narrator({ width: 12 });
  tell.say('three four five');
  expect(lines).toEqual(['', '   three', '   four five']);
});

it('leaves lines that are shown as they are', () => {
  const { lines, tell } = narrator({ width: 12 });
  tell.show(['a line that is longer than that', '  indented']);
  expect(lines).toEqual(['', '     a line that is longer than that', '       indented']);
});

it('remembers milestones and hangs their text under its beginning', () => {
  const { lines, tell } = narrator({ width: 26 });
  tell.milestone('it is right', 14, ' again');
  expect(lines).toEqual(['', '   ✓   14 ms  it is right', '              again']);
  expect(tell.milestones).toEqual([{ what: 'it is right', ms: 14 }]);
});

it('measures lines without their colour', () => {
  const { lines, tell } = narrator({ width: 26, paint: (format, text) => `<${format}>${text}</>` });
  tell.milestone('it is right', 14);
  expect(lines).toEqual(['', '   <green>✓   14 ms  </>it is right']);
});

it('falls silent when the demo stops', () => {
  const controller = new AbortController();
  const { lines, tell } = narrator({ signal: controller.signal });
  controller.abort(new Error('stopped'));
  expect(() => tell.say('anything')).toThrow('stopped');
  expect(lines).toEqual([]);
});
