/*
  How the text of a setting becomes a value. Each type says in words what it takes, so that the
  error for a wrong text is written in one place.
*/

export interface SettingType<Value> {
  /** Completes the sentence "expected …". */
  readonly expected: string;
  /** The value, or undefined when the text is not of this type. */
  parse(text: string): Value | undefined;
}

/** A closed range; without `max`, up to the largest exact whole number. */
export interface WholeNumberRange {
  readonly min: number;
  readonly max?: number;
}

export function wholeNumber({ min, max }: WholeNumberRange): SettingType<number> {
  return {
    expected: `a whole number from ${min}${max === undefined ? '' : ` to ${max}`}`,
    parse(text) {
      if (!/^[+-]?\d{1,16}$/.test(text)) return undefined;
      const value = Number(text);
      const isInRange = value >= min && value <= (max ?? Number.MAX_SAFE_INTEGER);
      return isInRange ? value : undefined;
    },
  };
}

/** Fractions are welcome: half a core is a fair share. */
export function number({ min }: { readonly min: number }): SettingType<number> {
  return {
    expected: `a number from ${min}`,
    parse(text) {
      const value = parseNumber(text);
      return value !== undefined && value >= min ? value : undefined;
    },
  };
}

/** A part of a whole. */
export const share: SettingType<number> = {
  expected: 'a number from 0 to 1',
  parse(text) {
    const value = parseNumber(text);
    return value !== undefined && value >= 0 && value <= 1 ? value : undefined;
  },
};

export const boolean: SettingType<boolean> = {
  expected: "'true' or 'false'",
  parse(text) {
    switch (text.toLowerCase()) {
      case 'true':
        return true;
      case 'false':
        return false;
      default:
        return undefined;
    }
  },
};

export const nonEmptyText: SettingType<string> = {
  expected: 'a text that is not empty',
  parse: (text) => (text === '' ? undefined : text),
};

export function oneOf<const Choice extends string>(
  ...choices: readonly Choice[]
): SettingType<Choice> {
  return {
    expected: choices.map((choice) => `'${choice}'`).join(' or '),
    parse: (text) => choices.find((choice) => choice === text),
  };
}

/** Any of the choices, each once, in the order of the choices: `file,web`; `none` for none. */
export function someOf<const Choice extends string>(
  ...choices: readonly Choice[]
): SettingType<readonly Choice[]> {
  const known = choices.map((choice) => `'${choice}'`).join(', ');
  return {
    expected: `'none', or some of ${known} joined by commas`,
    parse(text) {
      if (text === 'none') return [];
      const words = text.split(',').map((word) => word.trim());
      const isKnown = words.every((word) => choices.some((choice) => choice === word));
      return isKnown ? choices.filter((choice) => words.includes(choice)) : undefined;
    },
  };
}

/** `http://127.0.0.1:4318/v1/metrics`; not `https`. */
export const httpUrl: SettingType<string> = {
  expected: "an address that begins with 'http://'",
  parse(text) {
    const url = URL.parse(text);
    return url?.protocol === 'http:' && url.username === '' && url.hash === '' ? text : undefined;
  },
};

/** Addresses or names of hosts, `127.0.0.1,127.0.0.2`. */
export const addresses: SettingType<string> = {
  expected: 'addresses joined by commas',
  parse: (text) => (/^[A-Za-z0-9.:-]+(,[A-Za-z0-9.:-]+)*$/.test(text) ? text : undefined),
};

/** A number for each of some components, written `split:1.5,count:2`. */
export function perComponent(of: SettingType<number>): SettingType<ReadonlyMap<string, number>> {
  return {
    expected: `'component:value' pairs joined by commas, each value ${of.expected}`,
    parse(text) {
      const byComponent = new Map<string, number>();
      for (const pair of text.split(',')) {
        const [component = '', valueText = '', ...rest] = pair
          .split(':')
          .map((part) => part.trim());
        const value = of.parse(valueText);
        if (component === '' || value === undefined || rest.length > 0) return undefined;
        if (byComponent.has(component)) return undefined;
        byComponent.set(component, value);
      }
      return byComponent;
    },
  };
}

/** Plain decimal notation: `Number()` alone would also take '', '0x10' and 'Infinity'. */
function parseNumber(text: string): number | undefined {
  return /^[+-]?(\d{1,16}(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?$/.test(text) ? Number(text) : undefined;
}
