/* The examples of tests are tests: loading one registers what it has. */

const EXAMPLES = ['one-bolt', 'spout-and-service', 'whole-topology'];

for (const name of EXAMPLES) await import(`../../examples/testing/${name}.test.ts`);
