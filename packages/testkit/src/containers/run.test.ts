import { expect, it } from 'vitest';
import { runWords } from './run.ts';

const bare = { name: 'a', image: 'semaphore-policy:0.1.0' };

/** What stands before the image, but for what every container has, and what comes after it. */
function told(options: object): { readonly flags: readonly string[]; readonly words: readonly string[] } {
  const usual = new Set(runWords(bare));
  const words = runWords({ ...bare, ...options });
  const image = words.indexOf(bare.image);
  return { flags: words.slice(0, image).filter((word) => !usual.has(word)), words: words.slice(image + 1) };
}

it.each([
  { name: 'a network', options: { networkFile: '/proc/7/ns/net' }, flags: ['--network=ns:/proc/7/ns/net'] },
  { name: 'capabilities', options: { capabilities: ['NET_ADMIN'] }, flags: ['--cap-add=NET_ADMIN'] },
  { name: 'variables', options: { env: { A: 'b' } }, flags: ['--env=A=b'] },
  {
    name: 'volumes and devices',
    options: {
      binds: [
        { source: '/tmp/a', target: '/a', readOnly: true },
        { source: '/tmp/b', target: '/b', readOnly: false },
        { source: '/dev/net/tun', target: '/dev/net/tun', readOnly: false },
      ],
    },
    flags: ['--volume=/tmp/a:/a:ro', '--volume=/tmp/b:/b:rw', '--device=/dev/net/tun:/dev/net/tun'],
  },
])('tells podman $name', ({ options, flags }) => {
  expect(told(options)).toEqual({ flags, words: [] });
});

it('hands arguments to the program, which may be another one', () => {
  expect(told({ args: ['-a'] })).toEqual({ flags: [], words: ['-a'] });
  expect(told({ command: '/bin/other', args: ['-a'] })).toEqual({ flags: ['--entrypoint=/bin/other'], words: ['-a'] });
});
