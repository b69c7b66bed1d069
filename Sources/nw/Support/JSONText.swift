import CausewayTypes
import FoundationEssentials

extension PrintableText {
    /// A value as JSON with sorted keys, on one line or indented.
    init(json value: some Encodable, isIndented: Bool = false) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if isIndented { encoder.outputFormatting.insert(.prettyPrinted) }
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        let data = try? encoder.encode(value)
        self.init(document: data.map { String(decoding: $0, as: UTF8.self) } ?? "null")
    }
}
