import { expect, it } from 'vitest';
import { readCommandLine } from './command-line.ts';

const build = { kind: 'build', builder: undefined, base: undefined, node: undefined, go: undefined, source: undefined };

it.each([
  { name: 'uses the images of the Dockerfiles', args: [], want: build },
  {
    name: 'accepts a base and a source',
    args: ['--base', 'debootstrap', '--source=https://git.example/x'],
    want: { ...build, base: 'debootstrap', source: 'https://git.example/x' },
  },
  {
    name: 'accepts images of another registry',
    args: ['--node', 'our/node:24', '--go=our/go:1'],
    want: { ...build, node: 'our/node:24', go: 'our/go:1' },
  },
  { name: 'accepts a builder', args: ['--builder', 'podman'], want: { ...build, builder: 'podman' } },
  {
    name: 'names an unknown builder',
    args: ['--builder=kaniko'],
    want: { kind: 'bad-usage', problem: '--builder: "kaniko" must be one of docker, buildah, podman' },
  },
  { name: 'asks for help', args: ['-h'], want: { kind: 'help' } },
  { name: 'refuses other flags', args: ['--bass=x'], want: { kind: 'bad-usage', problem: "Unknown option '--bass'" } },
])('$name', ({ args, want }) => {
  expect(readCommandLine(args)).toEqual(want);
});
