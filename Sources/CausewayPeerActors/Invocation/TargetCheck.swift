internal import CCausewayLinux
internal import Distributed
internal import Foundation
internal import CausewaySystem

/// Decides which functions of an actor a peer may call.
///
/// A call from a peer contains the mangled name of a function. The Swift runtime parses this name before it looks up
/// the function. It does not check that the function belongs to the actor's type. So this class checks the name first.
/// The compiler must have recorded the name as a distributed function. The demangled name must show a direct member of
/// the actor's type.
final class TargetCheck: Sendable {
    /// Names of functions that peers may call, with the name of each function's type. Only functions of this program
    /// are added, so the dictionary is limited.
    private let permitted = LockedValue<[String: String]>([:])

    /// Returns a type's name, which is the same in all processes; `nil` for private, local and generic types.
    static func name(of type: any DistributedActor.Type) -> String? {
        let name = _typeName(type, qualified: true)
        return name.contains { $0 == "(" || $0 == "<" || $0 == " " } ? nil : name
    }

    /// Returns whether a mangled name that a peer sent belongs to a distributed function of the given type.
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

    /// Returns whether a demangled description names a function that belongs directly to `type`. The function may be in
    /// the type's body or in an extension. Functions in nested types do not count.
    static func isMember(_ description: String, of type: String) -> Bool {
        let start = "distributed thunk "
        guard description.hasPrefix(start) else { return false }
        var rest = description.dropFirst(start.count)
        if rest.hasPrefix("(extension in "), let end = rest.range(of: "):") { rest = rest[end.upperBound...] }
        guard rest.hasPrefix(type + ".") else { return false }
        rest = rest.dropFirst(type.count + 1)
        // A raw identifier is written in backquotes and may contain dots and parentheses. The code below cannot check
        // it, so accept it.
        if rest.first == "`" { return true }
        guard let end = rest.firstIndex(of: "(") else { return false }
        return !rest[..<end].contains(".")
    }
}
