/// The exit codes in the help of commands that share them.
enum ExitCodeText {
    /// The exit codes of a command that does not list its own.
    static let standard = """
        Exit codes:
          0         success
          1         failure; standard error has one line with the reason
          64        usage error
          130, 143  ended by SIGINT or SIGTERM
        """

    /// The exit codes for `nw download` and `nw upload`.
    static let transfer = """
        Exit codes:
          0         success
          1 to 63   as of nw http
          64        usage error
          130, 143  ended by SIGINT or SIGTERM
        """

    /// Returns the help text about exit codes for a server command.
    ///
    /// - Parameters:
    ///   - needs: The resources that the server needs to start.
    ///   - ending: The work that may be in progress when the server ends.
    static func server(needs: String, ending: String) -> String {
        """
        Exit codes:
          1         \(needs) cannot be used
          64        usage error
          130, 143  ended by SIGINT or SIGTERM; \(ending) had 2 seconds
                    to end
        """
    }
}
