import { expect, it } from 'vitest';
import { destinationsIn } from './destinations.ts';

it('finds the last destinations of connections by source port', () => {
  const lines = [
    '19:11:56.123456 IP 10.2.1.5.20001 > 10.4.3.2.8080: Flags [S], seq 1, win 64240, length 0',
    '19:11:57.000000 cni0  In  IP 10.2.1.5.20002 > 10.96.7.7.80: Flags [S], seq 2, win 64240, length 0',
    '19:11:57.000010 wireguard.c2 Out IP 10.2.1.5.20002 > 10.4.1.4.8080: Flags [S], seq 2, win 64240, length 0',
    '19:11:58.000000 IP 10.2.1.5.20',
  ];
  expect([...destinationsIn(lines.join('\n'))]).toEqual([
    [20_001, '10.4.3.2'],
    [20_002, '10.4.1.4'],
  ]);
});
