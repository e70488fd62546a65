// Short texts to begin with, by name, in groups.

export const SAMPLES = {
  Languages: {
    English: "The ferry wasn't late; we'd simply forgotten that clocks change in spring.",
    German: "Die Straßenbahn fährt übers Wochenende nur stündlich: Fahrplanänderung wegen Gleisbauarbeiten.",
    Russian: "Утром над рекой стоял туман, и лодки казались нарисованными.",
    Greek: "Το καράβι έφτασε αργά, μα ο καφές ήταν ακόμη ζεστός.",
    Arabic: "وصل القطار متأخراً، لكنّ المحطة كانت مليئة بالأصدقاء.",
    Hindi: "बारिश रुकते ही बच्चे गली में खेलने निकल आए।",
    Chinese: "雨停了，街角的小店又亮起了灯，热茶三元一杯。",
    Japanese: "電車が遅れたので、駅前のカフェでコーヒーを飲みました。",
  },
  "Code and symbols": {
    Python:
      'def mean(values: list[float]) -> float:\n    """Return the average."""\n' +
      "    if not values:\n        raise ValueError(\"no values\")\n    return sum(values) / len(values)\n",
    JSON: '{\n  "id": 4021,\n  "tags": ["new", "on sale"],\n  "price": 19.95,\n  "sold": null\n}\n',
    Numbers: "7 42 365 2024 31415 1000000 1,234,567.89 0x1F 6.02e23 ½ ٣٤ +44 20 7946 0018\n",
    Emoji: "👍 👍🏽 👩‍🚀 👨‍👩‍👧 🇯🇵 ❤️ ☕ 1️⃣",
    Whitespace: "one two  three   four\n\tone tab\n\t\ttwo tabs\n    four spaces\n\n\nthin\u2009no-break\u00a0wide\u3000end \n",
  },
};
