// Starts `heddle debug --dap` for debug sessions of the type heddle.
const vscode = require('vscode');

class Adapters {
    createDebugAdapterDescriptor(session) {
        const path = vscode.workspace.getConfiguration('heddle').get('path') || 'heddle';
        const folder = session.workspaceFolder && session.workspaceFolder.uri.fsPath;
        return new vscode.DebugAdapterExecutable(path, ['debug', '--dap'], folder ? { cwd: folder } : {});
    }
}

// Without a launch.json, and F5 in a source: nothing says what runs.
class Configurations {
    resolveDebugConfiguration(folder, configuration) {
        if (configuration.program)
            return configuration;
        return vscode.window.showErrorMessage('Heddle: launch.json has to say which `program` runs').then(() => undefined);
    }
}

exports.activate = context => context.subscriptions.push(
    vscode.debug.registerDebugAdapterDescriptorFactory('heddle', new Adapters()),
    vscode.debug.registerDebugConfigurationProvider('heddle', new Configurations()));
exports.deactivate = () => {};
