import { expect, it } from 'vitest';
import { pageFiles } from './files.ts';

it('the page has less than 200 kB of script and style, and asks no other server', async () => {
  const { script, style } = await pageFiles();
  expect(script.length + style.length).toBeLessThan(200_000);
  // The names of the languages of a page are URLs.
  expect((script + style).replaceAll('http://www.w3.org/', '')).not.toMatch(/https?:\/\//);
});
