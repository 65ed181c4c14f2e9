import type { PageFiles } from './files.ts';
import type { Mesh } from './mesh.ts';
import type { Routes } from './server.ts';
import { type Checked, queryOf, safeJson, viewOf } from './view.ts';

/** Where the page's data comes from. */
type Sources = {
  readonly mesh: () => Promise<Mesh>;
  /** Undefined before the first checks are done. */
  readonly check: () => Promise<Checked> | undefined;
  /** JSON. */
  readonly explain: (params: URLSearchParams) => Promise<string>;
};

const HTML = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>semaphore</title>
<link rel="icon" href="icon.svg">
<link rel="stylesheet" href="page.css">
<script src="page.js" defer></script>
<body><noscript>This page needs JavaScript.</noscript></body>
</html>
`;

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">
<path d="M3 13 8 3l5 10z" fill="none" stroke="#2e7d32" stroke-width="2"/>
</svg>
`;

/** The page, and its data. */
export const routesOf = ({ script, style }: PageFiles, { mesh, check, explain }: Sources): Routes => ({
  '': { type: 'text/html', body: () => HTML },
  'icon.svg': { type: 'image/svg+xml', body: () => ICON },
  'page.js': { type: 'text/javascript', body: () => script },
  'page.css': { type: 'text/css', body: () => style },
  'mesh.json': {
    type: 'application/json',
    body: async (params) => {
      const query = queryOf(params);
      const checked = check();
      return safeJson(viewOf({ mesh: await mesh(), check: (await checked) ?? null }, query));
    },
  },
  'explain.json': { type: 'application/json', body: explain },
});
