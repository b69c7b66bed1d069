/// Resolves character and entity references (XML 1.0 §4.1). Limits the number of bytes that all expanded entities
/// together add to the document.
struct XMLEntities: Sendable {
    /// Maximum entity name length in bytes.
    static let nameByteCount = 64
    /// Maximum nesting depth of entity references inside entity values. At a deeper reference, the expansion stops with
    /// ``Problem/tooLarge(_:)``.
    static let depth = 8

    private let limits: XMLLimits
    private var declared: [String: [UInt8]] = [:]
    /// The first document type declaration as written, without its internal subset; `nil` if there is none.
    private(set) var documentType: String?
    /// Whether the document may declare entities where the reader does not look, for example in an external file. In
    /// that case, a reference to an undeclared entity is not reported as a problem.
    private var hasExternalDeclarations = false
    private var budget: Int

    init(limits: XMLLimits) {
        self.limits = limits
        budget = limits.expansionByteCount
    }

    /// Reads the general entities with a literal value from a document type declaration. External entities get an empty
    /// value.
    mutating func declare(_ declaration: [UInt8]) {
        guard documentType == nil else { return }
        let subset = declaration.firstIndex(of: 0x5B)
        let head = String(decoding: declaration[..<(subset ?? declaration.count)], as: UTF8.self)
        documentType = head
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
        // If an entity is declared twice, the first declaration is used.
        if declared[name] == nil {
            declared[name] = bytes[(index + 1)..<end].filter { $0 >= 0x20 || $0 == 0x0A || $0 == 0x09 }
        }
        index = end + 1
    }

    /// A problem with a reference.
    enum Problem {
        case noReference, noCharacter, notTerminated
        case undeclared(String)
        case tooLarge(String)

        /// A human-readable description.
        var message: String {
            switch self {
            case .noReference: "'&' without a reference"
            case .noCharacter: "no such character"
            case .notTerminated: "a reference without ';'"
            case .undeclared(let name): "entity \(name) is not declared"
            case .tooLarge(let name): "entity \(name) expands to too much"
            }
        }
    }

    /// Maximum length in bytes, with "&" and ";", of a reference that the reader replaces in one step with
    /// ``common(_:)``. A longer reference is read byte by byte.
    static let shortByteCount = 12

    /// Returns the character for a predefined or numeric reference; `nil` for other references.
    func common(_ name: ArraySlice<UInt8>) -> Unicode.Scalar? {
        let first = name.startIndex
        switch (name.count, name[first]) {
        case (_, 0x23): return Self.scalar(name.dropFirst())
        case (2, 0x6C) where name[first + 1] == 0x74: return "<"
        case (2, 0x67) where name[first + 1] == 0x74: return ">"
        case (3, 0x61) where name[first + 1] == 0x6D && name[first + 2] == 0x70: return "&"
        case (4, 0x71) where name.elementsEqual(Self.quotationMark): return "\""
        case (4, 0x61) where name.elementsEqual(Self.apostrophe): return "'"
        default: return nil
        }
    }

    private static let quotationMark = Array("quot".utf8)
    private static let apostrophe = Array("apos".utf8)

    /// Returns a reference's replacement text, and a problem if there is one.
    mutating func expand(_ name: ArraySlice<UInt8>, isTerminated: Bool) -> (bytes: [UInt8], problem: Problem?) {
        guard let first = name.first else { return ([0x26] + (isTerminated ? [0x3B] : []), .noReference) }
        var bytes: [UInt8] = []
        if isTerminated, let scalar = common(name) {
            XMLCharacters.append(scalar, to: &bytes)
            return (bytes, nil)
        }
        guard first != 0x23 else {
            guard let scalar = Self.scalar(name.dropFirst()) else {
                return (isTerminated ? [] : [0x26] + name, .noCharacter)
            }
            XMLCharacters.append(scalar, to: &bytes)
            return (bytes, .notTerminated)
        }
        guard isTerminated else { return ([0x26] + name, .noReference) }
        let text = String(decoding: name, as: UTF8.self)
        if declared[text] != nil {
            let isComplete = append(text, depth: 0, to: &bytes)
            return (bytes, isComplete ? nil : .tooLarge(text))
        }
        let problem = hasExternalDeclarations ? nil : Problem.undeclared(text)
        guard let scalar = HTMLEntities.scalar(text) else { return ([0x26] + name + [0x3B], problem) }
        XMLCharacters.append(scalar, to: &bytes)
        return (bytes, problem)
    }

    private mutating func append(_ name: String, depth: Int, to bytes: inout [UInt8]) -> Bool {
        guard let value = declared[name], depth < Self.depth else { return false }
        var index = 0
        while index < value.count {
            // Reduce the expansion budget by one for each byte and for each reference in the value. References to empty
            // entities therefore count too.
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

    /// Returns the character for a numeric reference without "&#" and ";".
    static func scalar(_ digits: ArraySlice<UInt8>) -> Unicode.Scalar? {
        let isHexadecimal = digits.first.map { $0 | 0x20 == 0x78 } ?? false
        let rest = isHexadecimal ? digits.dropFirst() : digits
        guard !rest.isEmpty, rest.count <= 8 else { return nil }
        var number: UInt32 = 0
        for byte in rest {
            let digit: UInt32
            switch byte {
            case 0x30...0x39: digit = UInt32(byte - 0x30)
            case 0x41...0x46 where isHexadecimal, 0x61...0x66 where isHexadecimal: digit = UInt32((byte | 0x20) - 0x57)
            default: return nil
            }
            let (product, overflow) = number.multipliedReportingOverflow(by: isHexadecimal ? 16 : 10)
            guard !overflow else { return nil }
            number = product + digit
        }
        return XMLCharacters.character(number)
    }

    private static let predefined: [String: UInt8] = ["amp": 0x26, "lt": 0x3C, "gt": 0x3E, "quot": 0x22, "apos": 0x27]
}
