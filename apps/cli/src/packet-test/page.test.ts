import { expect, it } from 'vitest';
import { type Call, testPage, testText } from './page.ts';

const plain = (_: string, text: string): string => text;

const call = (more: Partial<Call> = {}): Call => ({
  from: 'c1',
  to: 'c2',
  by: 'pod',
  url: 'http://[fd00:4::1]:8080/',
  small: null,
  full: null,
  source: null,
  sourceAddress: 'fd00:2::1',
  latencyMs: 1.26,
  bytesPerSecond: 2e6,
  ...more,
});

it('names what did not come through, in foreign words that steer no terminal', () => {
  const calls = [
    call({ full: 'aborted \u001b[2J', bytesPerSecond: null, source: 'arrives from 192.0.2.1' }),
    call({ small: 'no byte', full: 'not tried', sourceAddress: null, latencyMs: null, bytesPerSecond: null }),
  ];
  const refused = [{ from: 'c1', to: 'c2', node: 'm1\u001b[2J', packets: 18 }];
  expect(testText({ calls, refused }, plain).split('\n')).toEqual([
    'FROM  TO  BY        SMALL  FULL  SOURCE  LATENCY  THROUGHPUT',
    'c1    c2  pod IPv6  ✓      ✗     ✗       1.3 ms   -',
    'c1    c2  pod IPv6  ✗      ✗     -       -        -',
    '',
    '✗ c1 to c2, http://[fd00:4::1]:8080/: aborted \\u001b[2J',
    '✗ c1 to c2, http://[fd00:4::1]:8080/: arrives from 192.0.2.1',
    '✗ c1 to c2, http://[fd00:4::1]:8080/: no byte',
    expect.stringMatching(/^! c1 to c2: meanwhile, WireGuard on the node m1\\u001b\[2J refused 18 packets: /),
    '',
  ]);
});

it.each([
  { name: 'all came through', calls: [call()], ok: true },
  { name: 'a source is unknown', calls: [call({ sourceAddress: null })], ok: true },
  { name: 'a source is another one', calls: [call(), call({ source: 'arrives from 192.0.2.1' })], ok: false },
  { name: 'a full call failed', calls: [call({ full: 'no byte' })], ok: false },
  { name: 'nothing was called', calls: [], ok: false },
])('is ok: $ok if $name', ({ calls, ok }) => {
  expect(testPage({ calls, refused: [] })).toMatchObject({ schemaVersion: '1', ok });
});
