// Intl.NumberFormat against Node's own.
import { inEachEngine } from "./realm.mjs";
import { LOCALES, choices, same, text } from "./same.mjs";

inEachEngine("numbers in every locale", (realm) => {
  const values =
    "0 -0 1 -1.5 999 1000 1234.5 9999 12345.678 -1234567.891 0.0005 0.256 1.005 1e21 5e-324 NaN -Infinity 99.995 12345678901234567890n";
  const options = [
    {},
    { maximumFractionDigits: 0 },
    { minimumFractionDigits: 2, maximumFractionDigits: 4 },
    { maximumSignificantDigits: 3 },
    { minimumSignificantDigits: 5 },
    { minimumIntegerDigits: 5 },
    { useGrouping: false },
    { useGrouping: true },
    { useGrouping: "min2" },
    { useGrouping: "always" },
    { signDisplay: "always" },
    { signDisplay: "exceptZero" },
    { signDisplay: "never" },
    { signDisplay: "negative", maximumFractionDigits: 0 },
    { style: "percent" },
    { style: "percent", maximumFractionDigits: 1, signDisplay: "always" },
    { trailingZeroDisplay: "stripIfInteger", minimumFractionDigits: 2 },
    ..."ceil floor expand trunc halfCeil halfFloor halfExpand halfTrunc halfEven"
      .split(" ")
      .map((roundingMode) => ({ roundingMode, maximumFractionDigits: 1 })),
    ...choices({
      style: ["currency"],
      currency: ["USD", "EUR", "JPY", "GBP", "CHF", "KWD"],
      currencyDisplay: [undefined, "code", "narrowSymbol"],
      currencySign: [undefined, "accounting"],
    }),
    { style: "currency", currency: "USD", signDisplay: "always" },
    { style: "currency", currency: "SEK", maximumFractionDigits: 0 },
  ];
  const methods = ["format", "formatToParts"];
  same(
    realm,
    LOCALES.flatMap((locale) =>
      options.flatMap((option) =>
        values
          .split(" ")
          .flatMap((value) =>
            methods.map((method) => `new Intl.NumberFormat('${locale}', ${text(option)}).${method}(${value})`),
          ),
      ),
    ),
  );
});

inEachEngine("compact numbers", (realm) => {
  const values =
    "0 0.12 1 12 123 999 1000 1234 1500 9999 12345 99950 123456 999499 999999 1e6 1.5e6 2e6 12345678 -5 1e9 2.5e9 123456789012 1e12 1e15 1e18 -1234567 NaN Infinity";
  const options = [
    ...choices({ compactDisplay: ["short", "long"] }),
    ...choices({
      compactDisplay: ["short", "long"],
      style: ["currency"],
      currency: ["USD", "EUR", "CHF"],
      currencySign: [undefined, "accounting"],
    }),
    { maximumFractionDigits: 1 },
    { minimumFractionDigits: 1, maximumFractionDigits: 2 },
    { maximumSignificantDigits: 3 },
    { signDisplay: "always" },
    { useGrouping: "always" },
  ].map((option) => ({ notation: "compact", ...option }));
  same(
    realm,
    LOCALES.flatMap((locale) =>
      options.flatMap((option) =>
        values
          .split(" ")
          .flatMap((value) =>
            ["format", "formatToParts"].map(
              (method) => `new Intl.NumberFormat('${locale}', ${text(option)}).${method}(${value})`,
            ),
          ),
      ),
    ),
  );
});

inEachEngine("every currency", (realm) => {
  const codes = Intl.supportedValuesOf("currency");
  same(
    realm,
    LOCALES.flatMap((locale) =>
      codes.flatMap((currency) =>
        ["symbol", "narrowSymbol", "code"].map(
          (currencyDisplay) =>
            `(-1234.5).toLocaleString('${locale}', ${text({ style: "currency", currency, currencyDisplay })})`,
        ),
      ),
    ),
  );
});
