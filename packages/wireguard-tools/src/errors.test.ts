import { describe, expect, it } from 'vitest';
import { codeOf, loggable } from './errors.ts';
import { generatePrivateKey } from './keys.ts';

describe('codeOf', () => {
  it.each([
    { words: 'Unable to access interface: No such device', code: 'WG_NO_DEVICE' },
    { words: 'Unable to access interface: Protocol not supported', code: 'WG_NO_DEVICE' },
    { words: 'Unable to modify interface: Operation not supported', code: 'WG_NO_DEVICE' },
    { words: 'Cannot find device "wireguard.c2"', code: 'WG_NO_DEVICE' },
    { words: 'Device "wireguard.c2" does not exist.', code: 'WG_NO_DEVICE' },
    { words: 'Error: Unknown device type.', code: 'WG_UNSUPPORTED' },
    { words: 'RTNETLINK answers: Operation not supported', code: 'WG_UNSUPPORTED' },
    { words: 'RTNETLINK answers: File exists', code: 'WG_EXISTS' },
    { words: 'Error: ipv4: Address already assigned.', code: 'WG_EXISTS' },
    { words: 'Error: ipv6: address already assigned.', code: 'WG_EXISTS' },
    { words: 'Error: ipv6: address not found.', code: 'WG_ABSENT' },
    { words: 'RTNETLINK answers: No such process', code: 'WG_ABSENT' },
    { words: 'Error: ipv4: FIB table does not exist.', code: 'WG_ABSENT' },
    { words: 'RTNETLINK answers: Cannot assign requested address', code: 'WG_ABSENT' },
    { words: 'Unable to modify interface: Address already in use', code: 'WG_PORT_TAKEN' },
    { words: 'RTNETLINK answers: Address already in use', code: 'WG_PORT_TAKEN' },
    { words: 'Unable to access interface: Operation not permitted', code: 'WG_DENIED' },
    { words: 'RTNETLINK answers: Network is down', code: 'WG_FAILED' },
  ])('takes "$words" for $code', ({ words, code }) => {
    expect(codeOf(words)).toBe(code);
  });
});

describe('loggable', () => {
  const key = generatePrivateKey().reveal();

  it.each([
    { name: 'a key', words: `before ${key} after`, want: 'before (key) after' },
    { name: 'a key without its end', words: `before ${key.slice(0, -2)} after`, want: 'before (key) after' },
    {
      name: 'what wg quotes of a broken key file',
      words: "Key is not the correct length: `half a key'",
      want: 'Key is not the correct length: (…)',
    },
    { name: 'a quotation without an end', words: 'Key: `half\na key', want: 'Key: (…)' },
    { name: 'line ends', words: ' one\n two\n', want: 'one; two' },
  ])('replaces $name', ({ words, want }) => {
    expect(loggable(words)).toBe(want);
  });

  it('is cut', () => {
    expect(loggable('ab '.repeat(1_000))).toHaveLength(301);
  });
});
