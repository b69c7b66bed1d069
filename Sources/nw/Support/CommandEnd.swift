import ArgumentParser
import CausewaySystem
import CausewayTypes
import FoundationEssentials

/// Ends the process after a command, with its text and exit code.
enum CommandEnd {
    /// Prints an error, or the text for a request such as `--help`, and ends the process.
    static func end(_ command: any ParsableArguments.Type, with error: any Error) -> Never {
        let code = command.exitCode(for: error)
        let text = message(of: error, from: command)
        if !text.isEmpty {
            if code == .success { StandardOutput.finish(text + "\n") } else { printError(PrintableText(report: text)) }
        }
        end(code.rawValue)
    }

    /// Ends the process. The latest progress line stays on the terminal.
    static func end(_ code: Int32) -> Never {
        StatusLine.leave()
        exit(code)
    }

    /// Returns an error's text. If the text contains the parser's hint `See 'COMMAND --help'`, adds the tool's name to
    /// the hint.
    static func message(of error: any Error, from command: any ParsableArguments.Type) -> String {
        let text = command.fullMessage(for: error)
        guard let name = (command as? any Subcommand.Type)?.outline.commandName else { return text }
        return text.replacing("  See '\(name) ", with: "  See '\(NW.name) \(name) ")
    }
}
