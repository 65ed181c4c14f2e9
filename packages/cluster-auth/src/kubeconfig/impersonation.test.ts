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
    { name: 'are empty for a user that does not act as another', user: {}, want: {} },
    { name: 'have the user', user: { as: 'jane' }, want: { 'Impersonate-User': 'jane' } },
    {
      name: 'have the uid, and one line per group, even with commas',
      user: { as: 'jane', 'as-uid': '42', 'as-groups': ['dev', 'a,b'] },
      want: { 'Impersonate-User': 'jane', 'Impersonate-Uid': '42', 'Impersonate-Group': ['dev', 'a,b'] },
    },
    {
      name: 'escape the keys of extra values',
      user: { as: 'jane', 'as-user-extra': { 'acme.com/project': ['x', 'y'], 'ä%': ['z'] } },
      want: {
        'Impersonate-User': 'jane',
        'Impersonate-Extra-acme.com%2Fproject': ['x', 'y'],
        'Impersonate-Extra-%C3%A4%25': ['z'],
      },
    },
    { name: 'are UTF-8, with one character per byte', user: { as: 'ä' }, want: { 'Impersonate-User': '\u00c3\u00a4' } },
  ])('$name', ({ user, want }) => {
    expect(headersOf(user)).toEqual(want);
  });

  it('refuse a line feed, which would begin another header', () => {
    expect(() => headersOf({ as: 'jane', 'as-groups': ['a\r\nAuthorization: x'] })).toThrow(
      'user "u": as-groups has control characters',
    );
  });
});
