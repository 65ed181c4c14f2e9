import { expect, it } from 'vitest';
import { readCommandLine } from './command-line.ts';

const build = { kind: 'build', builder: undefined, base: undefined, node: undefined, go: undefined, source: undefined };

it.each([
  { name: 'builds on what the Dockerfiles say', args: [], want: build },
  {
    name: 'takes a base and a source',
    args: ['--base', 'debootstrap', '--source=https://git.example/x'],
    want: { ...build, base: 'debootstrap', source: 'https://git.example/x' },
  },
  {
    name: 'takes images of another registry',
    args: ['--node', 'our/node:24', '--go=our/go:1'],
    want: { ...build, node: 'our/node:24', go: 'our/go:1' },
  },
  { name: 'takes a builder', args: ['--builder', 'podman'], want: { ...build, builder: 'podman' } },
  {
    name: 'names a builder that it doesn’t know',
    args: ['--builder=kaniko'],
    want: { kind: 'bad-usage', problem: '--builder: "kaniko" is none of docker, buildah, podman' },
  },
  { name: 'asks for help', args: ['-h'], want: { kind: 'help' } },
  { name: 'knows no other flag', args: ['--bass=x'], want: { kind: 'bad-usage', problem: "Unknown option '--bass'" } },
])('$name', ({ args, want }) => {
  expect(readCommandLine(args)).toEqual(want);
});
