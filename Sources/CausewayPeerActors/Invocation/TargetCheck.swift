internal import CCausewayActors
internal import Distributed
internal import Foundation
internal import CausewaySystem

/// Decides which functions of an actor a peer may call.
///
/// The Swift runtime parses the name of a function before it looks the function up, and it does not check that the actor has the type to
/// which the function belongs. Hence both are checked first: the compiler recorded the name as that of a distributed function of the
/// program, and its description says that it is a direct member of the actor's type.
final class TargetCheck: Sendable {
    /// The functions that were permitted, with their types. Bounded by the functions of the program.
    private let permitted = LockedValue<[String: String]>([:])

    /// The name of a type in all processes; `nil` for private types, types in functions, and generic ones.
    static func name(of type: any DistributedActor.Type) -> String? {
        let name = _typeName(type, qualified: true)
        return name.contains { $0 == "(" || $0 == "<" || $0 == " " } ? nil : name
    }

    /// Whether a name from a peer is that of a distributed function of a type.
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

    /// Whether a description is that of a function in the body or in an extension of a type, and not of a type inside of it.
    static func isMember(_ description: String, of type: String) -> Bool {
        let start = "distributed thunk "
        guard description.hasPrefix(start) else { return false }
        var rest = description.dropFirst(start.count)
        if rest.hasPrefix("(extension in "), let end = rest.range(of: "):") { rest = rest[end.upperBound...] }
        guard rest.hasPrefix(type + ".") else { return false }
        rest = rest.dropFirst(type.count + 1)
        // A raw identifier may have any characters.
        if rest.first == "`" { return true }
        guard let end = rest.firstIndex(of: "(") else { return false }
        return !rest[..<end].contains(".")
    }
}
