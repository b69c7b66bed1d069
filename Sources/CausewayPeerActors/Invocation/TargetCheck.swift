internal import CCausewayLinux
internal import Distributed
internal import Foundation
internal import CausewaySystem

/// Decides which of an actor's functions a peer may call.
///
/// A peer's call contains a function's mangled name. The Swift runtime parses this name before it looks the function
/// up, and does not check that the function belongs to the actor's type. So this class checks the name before the
/// runtime gets it. The compiler must have recorded the name as a distributed function, and the demangled name must
/// show a direct member of the actor's type.
final class TargetCheck: Sendable {
    /// Names of functions that peers may call, with the name of each function's type. Only functions of this program
    /// are added, so the dictionary is limited.
    private let permitted = LockedValue<[String: String]>([:])

    /// Returns a type's name, which is the same in all processes; `nil` for private, local and generic types.
    static func name(of type: any DistributedActor.Type) -> String? {
        let name = _typeName(type, qualified: true)
        return name.contains { $0 == "(" || $0 == "<" || $0 == " " } ? nil : name
    }

    /// Whether a mangled name from a peer is the name of a distributed function in a type.
    func permits(_ target: String, of type: String) -> Bool {
        if let known = permitted.withLock({ $0[target] }) { return known == type }
        guard let description = Self.description(target), Self.isMember(description, of: type) else { return false }
        permitted.withLock { $0[target] = type }
        return true
    }

    private static func description(_ target: String) -> String? {
        guard target.utf8.count <= 1_024 else { return nil }
        var target = target
        let text = target.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { cw_distributed_function($0.baseAddress, $0.count) }
        }
        defer { free(text) }
        return text.map { String(cString: $0) }
    }

    /// Whether a demangled description shows a function in a type's body or extension, but not in a nested type.
    static func isMember(_ description: String, of type: String) -> Bool {
        let start = "distributed thunk "
        guard description.hasPrefix(start) else { return false }
        var rest = description.dropFirst(start.count)
        if rest.hasPrefix("(extension in "), let end = rest.range(of: "):") { rest = rest[end.upperBound...] }
        guard rest.hasPrefix(type + ".") else { return false }
        rest = rest.dropFirst(type.count + 1)
        // A raw identifier is in backquotes and may contain dots and parentheses, so the code below cannot check it.
        if rest.first == "`" { return true }
        guard let end = rest.firstIndex(of: "(") else { return false }
        return !rest[..<end].contains(".")
    }
}
