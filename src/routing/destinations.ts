/**
 * The tasks that one tuple goes to, in a list that is filled again for every tuple, so that routing
 * allocates nothing. A task may stand in it twice: two consumers, two copies.
 */
export class Destinations {
  tasks = new Int32Array(16);
  count = 0;
  /** The last task that a tuple named and that gets no tuples; it is in no list. */
  misdirected = 0;

  clear(): void {
    this.count = 0;
  }

  add(task: number): void {
    if (this.count === this.tasks.length) this.#grow();
    this.tasks[this.count] = task;
    this.count += 1;
  }

  #grow(): void {
    const larger = new Int32Array(this.tasks.length * 2);
    larger.set(this.tasks);
    this.tasks = larger;
  }
}
