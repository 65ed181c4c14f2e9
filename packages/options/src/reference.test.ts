import { expect, it } from 'vitest';
import { optionsReference } from './reference.ts';
import type { OptionTable } from './table.ts';
import { boolean, oneOf, text } from './types.ts';

type Config = { name: string; level: 'a' | 'b'; sync: boolean; token: string | undefined };

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
  token: { env: 'SP_TOKEN', secret: true, group: 'Two', type: text('token'), help: 'Token.' },
};

it('renders a table per group and leaves no bar unescaped', () => {
  expect(optionsReference(table)).toBe(`### One

| Flag | Variable | Default | Meaning |
|---|---|---|---|
| \`-name <name>\` | \`SP_NAME\`, older: \`KPS_NAME\` | required | A\\|B. |
| \`-sync\` | \`SP_SYNC\` | \`false\` | Sync. |

### Two

| Flag | Variable | Default | Meaning |
|---|---|---|---|
| \`-level <a\\|b>\` | \`SP_LEVEL\` | \`a\` | Level. |
|  | \`SP_TOKEN\` |  | Token. |
`);
});
