import { expect, it } from 'vitest';
import { isSpecialIp } from './special.ts';

it.each(['0.0.0.0', '127.0.0.1', '127.9.9.9', '169.254.169.254', '224.0.0.251', '::', '::1', 'fe80::1', 'ff02::fb'])('%s is special', (ip) => {
  expect(isSpecialIp(ip)).toBe(true);
});

it.each(['0.0.0.1', '10.4.0.1', '128.0.0.1', '169.255.0.1', '224.0.1.1', '239.0.0.1', 'fd00::1', '::2', '2001:db8::1', 'ff05::2'])('%s is not', (ip) => {
  expect(isSpecialIp(ip)).toBe(false);
});
