import { describe, expect, it } from 'vitest';
import { isDnsLabel, isDnsSubdomain, isLabelValue, isServiceName } from './kubernetes.ts';

const a = (count: number) => 'a'.repeat(count);

// The last three columns: is it a label, a subdomain, a label value?
describe.each([
  { name: 'a plain name', text: 'my-app', label: true, subdomain: true, value: true },
  { name: 'one digit', text: '1', label: true, subdomain: true, value: true },
  { name: 'a name in parts', text: 'my.app', label: false, subdomain: true, value: true },
  { name: 'capitals and underscores', text: 'My_App', label: false, subdomain: false, value: true },
  { name: 'nothing', text: '', label: false, subdomain: false, value: true },
  { name: 'a hyphen at the end', text: 'app-', label: false, subdomain: false, value: false },
  { name: 'a dot at the start', text: '.app', label: false, subdomain: false, value: false },
  { name: 'two dots', text: 'a..b', label: false, subdomain: false, value: true },
  { name: 'a hyphen before a dot', text: 'a-.b', label: false, subdomain: false, value: true },
  { name: 'a slash', text: 'a/b', label: false, subdomain: false, value: false },
  { name: 'a line break at the end', text: 'app\n', label: false, subdomain: false, value: false },
  { name: '63 characters', text: a(63), label: true, subdomain: true, value: true },
  { name: '64 characters', text: a(64), label: false, subdomain: true, value: false },
  { name: '253 characters', text: a(253), label: false, subdomain: true, value: false },
  { name: '254 characters', text: a(254), label: false, subdomain: false, value: false },
])('$name', ({ text, label, subdomain, value }) => {
  it(`is ${label ? 'a' : 'no'} DNS label`, () => expect(isDnsLabel(text)).toBe(label));
  it(`is ${subdomain ? 'a' : 'no'} DNS subdomain`, () => expect(isDnsSubdomain(text)).toBe(subdomain));
  it(`is ${value ? 'a' : 'no'} label value`, () => expect(isLabelValue(text)).toBe(value));
});

describe('isServiceName', () => {
  it.each([
    { text: 'my-app', want: true },
    { text: 'a1', want: true },
    { text: '1a', want: false },
    { text: '-a', want: false },
    { text: 'a.b', want: false },
    { text: a(63), want: true },
    { text: a(64), want: false },
  ])('of $text is $want', ({ text, want }) => {
    expect(isServiceName(text)).toBe(want);
  });
});
