import { expect, it } from 'vitest';
import { optionsReference } from './reference.ts';
import { rowsOf, type OptionTable } from './table.ts';
import { boolean, oneOf, text } from './types.ts';

type Config = { name: string; level: 'a' | 'b'; sync: boolean; token: string | undefined; lease: string | undefined };

const table: OptionTable<Config> = {
  name: {
    flag: 'name',
    env: 'SP_NAME',
    aliases: ['KPS_NAME'],
    group: 'One',
    type: text('name'),
    required: true,
    help: 'A|B.',
  },
  level: { flag: 'level', env: 'SP_LEVEL', group: 'Two', type: oneOf(['a', 'b']), fallback: 'a', help: 'Level.' },
  sync: { flag: 'sync', env: 'SP_SYNC', group: 'One', type: boolean, fallback: false, help: 'Sync.' },
  token: { env: 'SP_TOKEN', secret: true, group: 'Two', type: text('token'), absent: 'none', help: 'Token.' },
  lease: { flag: 'lease', env: 'SP_LEASE', group: 'Two', type: text('lease'), absent: 'x-<name>', help: 'Lease.' },
};

it('renders a line per option', () => {
  expect(optionsReference(rowsOf(table).map(([, spec]) => spec))).toBe(`\
- \`-name <name>\`, \`SP_NAME\` (required): A|B. Older: \`KPS_NAME\`.
- \`-level <a|b>\`, \`SP_LEVEL\` (\`a\`): Level.
- \`-sync\`, \`SP_SYNC\` (\`false\`): Sync.
- \`SP_TOKEN\` (none): Token.
- \`-lease <lease>\`, \`SP_LEASE\` (\`x-<name>\`): Lease.
`);
});
