import { itRotates as it, rotateWith } from '../support/key-rotation.ts';

// Of all, only the strict one would drop packets if nothing were done. nightly/rotation.test.ts has the others.
it('replaces the key of a node without a lost packet, with rp_filter 1', ({ mesh }) => rotateWith(1, mesh));
