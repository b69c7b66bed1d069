import Foundation
import Testing

@testable import nw

/// The help texts of `nw` and its commands.
@Suite("Help of the commands")
struct CommandHelpTests {
    private static let commands: [any Subcommand.Type] = NW.commands + NW.serveCommands
    private static let names = [NW.name] + commands.map { $0.outline.commandName ?? "" }

    private static func help(of name: String) throws -> [Substring] {
        guard name != NW.name else { return lines(NW.helpMessage(columns: 80)) }
        let command = try #require(commands.first { $0.outline.commandName == name })
        return lines(command.helpMessage(columns: 80))
    }

    private static func lines(_ text: String) -> [Substring] {
        text.split(separator: "\n", omittingEmptySubsequences: false)
    }

    @Test("No line of the help has more than 80 columns", arguments: names)
    func width(_ name: String) throws {
        let long = try Self.help(of: name).filter { $0.count > 80 }
        #expect(long == [])
    }

    @Test("The help has examples, and no example has more than 72 columns", arguments: names)
    func examples(_ name: String) throws {
        let help = try Self.help(of: name)
        let start = try #require(help.firstIndex(of: "Examples:"))
        let examples = help[(start + 1)...].prefix { !$0.isEmpty }
        #expect(!examples.isEmpty)
        // Every line of the examples must begin with spaces. A line without them is the second half of an example that
        // the argument parser has wrapped.
        #expect(examples.filter { $0.count > 72 || !$0.hasPrefix("  ") } == [])
    }

    private struct Tree: Decodable {
        struct Command: Decodable {
            var commandName: String
            var abstract: String?
            var arguments: [Argument]?
            var subcommands: [Command]?

            /// The command and all its subcommands, except the parser's own `help`.
            var all: [Command] { [self] + (subcommands ?? []).filter { $0.commandName != "help" }.flatMap(\.all) }
        }
        struct Argument: Decodable {
            struct Name: Decodable { var name: String }
            var kind: String
            var preferredName: Name?
            var valueName: String?
            var abstract: String?

            var label: String { preferredName?.name ?? valueName ?? kind }
        }
        var command: Command
    }

    private static func allCommands() throws -> [Tree.Command] {
        try JSONDecoder().decode(Tree.self, from: Data(NW._dumpHelp().utf8)).command.all
    }

    @Test("Every command has --json, except those that relay a peer's data")
    func json() throws {
        let without = try Self.allCommands().filter { command in
            !(command.arguments ?? []).contains { $0.preferredName?.name == "json" }
        }
        #expect(without.map(\.commandName).sorted() == ["cat", "chat", NW.name])
    }

    @Test("Every command, option and argument has a help text that is a sentence")
    func texts() throws {
        let commands = try Self.allCommands()
        // The parser does not list the commands `serve http` and `serve upload`, so subtract them.
        #expect(commands.count == Self.names.count - NW.serveCommands.count)
        for command in commands {
            #expect(command.abstract?.hasSuffix(".") == true, "nw \(command.commandName)")
            for argument in command.arguments ?? [] {
                let text = argument.abstract ?? ""
                // The sentence in a help text can be followed by the default value.
                let sentence = text.replacing(#/\ \(default: .*\)$/#, with: "")
                let isSentence = sentence.hasSuffix(".") && sentence.first?.isLowercase == false
                #expect(isSentence, "nw \(command.commandName): \(argument.label): \(text)")
            }
        }
    }
}
