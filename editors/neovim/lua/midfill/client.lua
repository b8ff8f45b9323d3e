--- The language client: its configuration for vim.lsp.config, and which client serves a buffer.
local drafts = require('midfill.drafts')
local options = require('midfill.options')
local preview = require('midfill.preview')
local program = require('midfill.program')
local status = require('midfill.status')

local M = {}

M.NAME = 'midfill'

local ROOT_MARKERS = { '.git', 'pyproject.toml', 'setup.py' }
local DEFAULT_MODEL = 'pocket' -- the server's
local EXIT_TIMEOUT_MS = 1000
local has_complained = false

--- The workspace of a buffer.
---@param bufnr integer
---@return string?
function M.root(bufnr)
  return vim.fs.root(bufnr, ROOT_MARKERS)
end

---@param dispatchers vim.lsp.rpc.Dispatchers
---@param config vim.lsp.ClientConfig
---@return vim.lsp.rpc.PublicClient
local function start(dispatchers, config)
  local found = program.find(config.root_dir)
  local cmd = assert(found.cmd, found.from)
  local extra = { cwd = config.cmd_cwd or config.root_dir, env = config.cmd_env, detached = config.detached }
  return vim.lsp.rpc.start(cmd, dispatchers, extra)
end

--- Start the server for a buffer, if there is one to start. Says once in a session if there is none.
---@param bufnr integer
---@param go_on fun(root?: string)
local function root_dir(bufnr, go_on)
  local root = M.root(bufnr)
  local is_found_by_us = vim.lsp.config[M.NAME].cmd == start
  local found = program.find(root)
  if found.cmd or not is_found_by_us then
    go_on(root)
  elseif not has_complained then
    has_complained = true
    vim.notify(('midfill: %s; see :checkhealth midfill'):format(found.from), vim.log.levels.WARN)
  end
end

--- Settings are pulled and pushed, but some are needed before the server can do either.
---@param params lsp.InitializeParams
---@param config vim.lsp.ClientConfig
local function before_init(params, config)
  params.initializationOptions = params.initializationOptions or config.settings
end

--- What `lsp/midfill.lua` gives to Neovim. Anything in it can be changed with `vim.lsp.config('midfill', ...)`.
---@return vim.lsp.Config
function M.config()
  local current = options.current
  local settings = vim.tbl_isempty(current.settings) and vim.empty_dict() or current.settings
  return {
    cmd = start,
    root_dir = root_dir,
    filetypes = current.filetypes,
    before_init = before_init,
    settings = { [M.NAME] = settings },
    -- Neovim 0.11 does not say that it can show ghost text: with us, it can.
    capabilities = {
      textDocument = { inlineCompletion = { dynamicRegistration = false } },
      workspace = {
        workspaceEdit = { documentChanges = true, changeAnnotationSupport = { groupsOnLabel = false } },
      },
      experimental = { midfill = { drafts = true, status = true } },
    },
    handlers = {
      [status.METHOD] = status.on_change,
      [drafts.METHOD] = drafts.on_draft,
      ['workspace/applyEdit'] = preview.on_apply_edit,
    },
    -- 0.11 knows another option of that name, with which it always waits that long; the server leaves by itself.
    exit_timeout = vim.fn.has('nvim-0.12') == 1 and EXIT_TIMEOUT_MS or nil,
  }
end

--- The client that serves a buffer.
---@param bufnr integer
---@return vim.lsp.Client?
function M.of(bufnr)
  return vim.lsp.get_clients({ name = M.NAME, bufnr = bufnr })[1]
end

--- The client of this buffer, or else any.
---@return vim.lsp.Client?
function M.any()
  return M.of(vim.api.nvim_get_current_buf()) or vim.lsp.get_clients({ name = M.NAME })[1]
end

--- Whether the server has announced a command of its own.
---@param client vim.lsp.Client
---@param command string
---@return boolean
function M.knows(client, command)
  local provider = client.server_capabilities.executeCommandProvider
  return provider ~= nil and vim.list_contains(provider.commands or {}, command)
end

--- The user has turned to a buffer: the status is that of its document from now on.
---@param bufnr integer
function M.tell_focus(bufnr)
  local client = M.of(bufnr)
  if client and client.initialized then
    client:notify('textDocument/didFocus', { textDocument = { uri = vim.uri_from_bufnr(bufnr) } })
  end
end

--- The name of the model that is used.
---@param client vim.lsp.Client
---@return string
function M.model(client)
  return vim.tbl_get(client.settings, M.NAME, 'preset') or DEFAULT_MODEL
end

--- Change settings of the running server; the next start is with those of the configuration again.
---@param client vim.lsp.Client
---@param changes table<string, any>
function M.configure(client, changes)
  client.settings = vim.tbl_deep_extend('force', client.settings, { [M.NAME] = changes })
  client:notify('workspace/didChangeConfiguration', { settings = client.settings })
end

return M
