/// Resolves references to characters and entities within a budget (XML 1.0 §4.1).
struct XMLEntities: Sendable {
    /// The bytes of the longest name of an entity.
    static let nameByteCount = 64
    /// Nested references. A reference beyond is dropped.
    static let depth = 8

    private let limits: XMLLimits
    private var declared: [String: [UInt8]] = [:]
    /// Whether entities may be declared in a part of the document type declaration that is not read.
    private var hasExternalDeclarations = false
    private var budget: Int

    init(limits: XMLLimits) {
        self.limits = limits
        budget = limits.expansionByteCount
    }

    /// Reads the general entities of a document type declaration that have a literal value. External ones get an empty value.
    mutating func declare(_ declaration: [UInt8]) {
        let subset = declaration.firstIndex(of: 0x5B)
        let head = String(decoding: declaration[..<(subset ?? declaration.count)], as: UTF8.self)
        hasExternalDeclarations = head.contains("SYSTEM") || head.contains("PUBLIC")
        guard let subset else { return }
        let marker = Array("<!ENTITY".utf8)
        var index = subset
        while index + marker.count < declaration.count, declared.count < limits.entities {
            if declaration[index] == 0x25 { hasExternalDeclarations = true }
            guard declaration[index] == 0x3C, declaration[index...].starts(with: marker) else {
                index += 1
                continue
            }
            index += marker.count
            declareEntity(declaration, &index)
        }
    }

    private mutating func declareEntity(_ bytes: [UInt8], _ index: inout Int) {
        func skipSpace(_ index: inout Int) {
            while index < bytes.count, XMLCharacters.isSpace(bytes[index]) { index += 1 }
        }
        skipSpace(&index)
        let start = index
        while index < bytes.count, XMLCharacters.isName(bytes[index]) { index += 1 }
        let name = String(decoding: bytes[start..<index], as: UTF8.self)
        skipSpace(&index)
        guard !name.isEmpty, index < bytes.count else { return hasExternalDeclarations = true }
        let quote = bytes[index]
        guard quote == 0x22 || quote == 0x27, let end = bytes[(index + 1)...].firstIndex(of: quote) else {
            if declared[name] == nil { declared[name] = [] }
            return
        }
        // The first declaration counts.
        if declared[name] == nil { declared[name] = Array(bytes[(index + 1)..<end]) }
        index = end + 1
    }

    /// Returns what a reference stands for, and a problem with it.
    mutating func expand(_ name: ArraySlice<UInt8>, isTerminated: Bool) -> (bytes: [UInt8], problem: String?) {
        let written = [0x26] + name + (isTerminated ? [0x3B] : [])
        guard !name.isEmpty else { return (written, "'&' without a reference") }
        if name.first == 0x23 {
            guard let scalar = Self.scalar(name.dropFirst()) else {
                return (isTerminated ? [] : written, "no such character")
            }
            var bytes: [UInt8] = []
            XMLCharacters.append(scalar, to: &bytes)
            return (bytes, isTerminated ? nil : "a reference without ';'")
        }
        let text = String(decoding: name, as: UTF8.self)
        guard isTerminated else { return (written, "'&' without a reference") }
        if let predefined = Self.predefined[text] { return ([predefined], nil) }
        if declared[text] != nil {
            var bytes: [UInt8] = []
            let isComplete = append(text, depth: 0, to: &bytes)
            return (bytes, isComplete ? nil : "entity \(text) expands to too much")
        }
        guard let scalar = HTMLEntities.scalar(text) else {
            return (written, hasExternalDeclarations ? nil : "entity \(text) is not declared")
        }
        var bytes: [UInt8] = []
        XMLCharacters.append(scalar, to: &bytes)
        return (bytes, hasExternalDeclarations ? nil : "entity \(text) is not declared")
    }

    private mutating func append(_ name: String, depth: Int, to bytes: inout [UInt8]) -> Bool {
        guard let value = declared[name], depth < Self.depth else { return false }
        var index = 0
        while index < value.count {
            // Each step costs, even one that adds nothing: otherwise empty entities would be free.
            budget -= 1
            guard budget > 0 else { return false }
            let byte = value[index]
            index += 1
            guard byte == 0x26, let end = value[index...].prefix(Self.nameByteCount).firstIndex(of: 0x3B) else {
                bytes.append(byte)
                continue
            }
            let inner = value[index..<end]
            index = end + 1
            guard inner.first != 0x23 else {
                if let scalar = Self.scalar(inner.dropFirst()) { XMLCharacters.append(scalar, to: &bytes) }
                continue
            }
            let text = String(decoding: inner, as: UTF8.self)
            if let predefined = Self.predefined[text] {
                bytes.append(predefined)
            } else if declared[text] == nil {
                bytes += [0x26] + inner + [0x3B]
            } else if !append(text, depth: depth + 1, to: &bytes) {
                return false
            }
        }
        return true
    }

    /// Returns the character of a numeric reference, without "&#" and ";".
    static func scalar(_ digits: ArraySlice<UInt8>) -> Unicode.Scalar? {
        let isHexadecimal = digits.first.map { $0 | 0x20 == 0x78 } ?? false
        let rest = isHexadecimal ? digits.dropFirst() : digits
        guard !rest.isEmpty, rest.count <= 8 else { return nil }
        return UInt32(String(decoding: rest, as: UTF8.self), radix: isHexadecimal ? 16 : 10).flatMap(
            XMLCharacters.character)
    }

    private static let predefined: [String: UInt8] = ["amp": 0x26, "lt": 0x3C, "gt": 0x3E, "quot": 0x22, "apos": 0x27]
}
