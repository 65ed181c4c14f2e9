import { describe, expect, it } from 'vitest';
import { impersonationHeaders } from './impersonation.ts';
import { parseKubeconfig } from './schema.ts';

const headersOf = (user: object) => {
  const [entry] = parseKubeconfig(JSON.stringify({ users: [{ name: 'u', user }] }), 'k').users;
  if (entry === undefined) throw new Error('no user');
  return impersonationHeaders(entry.user, (field) => `user "u": ${field}`);
};

describe('impersonationHeaders', () => {
  it.each([
    { name: 'sends none of a user who acts as nobody else', user: {}, want: {} },
    { name: 'sends the user', user: { as: 'jane' }, want: { 'Impersonate-User': 'jane' } },
    {
      name: 'sends the uid, and a line per group, commas and all',
      user: { as: 'jane', 'as-uid': '42', 'as-groups': ['dev', 'a,b'] },
      want: { 'Impersonate-User': 'jane', 'Impersonate-Uid': '42', 'Impersonate-Group': ['dev', 'a,b'] },
    },
    {
      name: 'escapes the keys of extra values',
      user: { as: 'jane', 'as-user-extra': { 'acme.com/project': ['x', 'y'], 'ä%': ['z'] } },
      want: {
        'Impersonate-User': 'jane',
        'Impersonate-Extra-acme.com%2Fproject': ['x', 'y'],
        'Impersonate-Extra-%C3%A4%25': ['z'],
      },
    },
    { name: 'sends UTF-8, a byte per character', user: { as: 'ä' }, want: { 'Impersonate-User': '\u00c3\u00a4' } },
  ])('$name', ({ user, want }) => {
    expect(headersOf(user)).toEqual(want);
  });

  it('refuses a line feed, which would begin another header', () => {
    expect(() => headersOf({ as: 'jane', 'as-groups': ['a\r\nAuthorization: x'] })).toThrow(
      'user "u": as-groups has control characters',
    );
  });
});
