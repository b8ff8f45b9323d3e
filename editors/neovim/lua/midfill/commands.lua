--- :Midfill SUBCOMMAND. What the server does not announce says so in one line.
local client_of = require('midfill.client')
local status = require('midfill.status')

local M = {}

---@class midfill.Subcommand
---@field about string
---@field run fun(client: vim.lsp.Client?, args: vim.api.keyset.create_user_command.command_args, rest: string)
---@field server_command? string It is nothing without this command of the server.
---@field needs_server? boolean

---@param text string
local function say(text)
  vim.api.nvim_echo({ { 'midfill: ' .. text } }, true, {})
end

---@param text string
local function complain(text)
  vim.notify('midfill: ' .. text, vim.log.levels.WARN)
end

--- Have the server carry out a command, and do something with its result.
---@param client vim.lsp.Client
---@param command string
---@param argument table
---@param on_result? fun(result: any)
local function execute(client, command, argument, on_result)
  local bufnr = vim.api.nvim_get_current_buf()
  client:exec_cmd({ title = command, command = command, arguments = { argument } }, { bufnr = bufnr }, function(err, result)
    if err then
      complain(err.message)
    elseif on_result then
      on_result(result)
    end
  end)
end

---@return { textDocument: lsp.TextDocumentIdentifier }
local function this_document()
  return { textDocument = vim.lsp.util.make_text_document_params(0) }
end

--- The lines of a command's range, or what is selected, in the server's units.
---@param client vim.lsp.Client
---@param args vim.api.keyset.create_user_command.command_args
---@return lsp.Range
local function range_of(client, args)
  local last = vim.api.nvim_buf_get_lines(0, args.line2 - 1, args.line2, false)[1] or ''
  local start_mark, end_mark = vim.api.nvim_buf_get_mark(0, '<'), vim.api.nvim_buf_get_mark(0, '>')
  local is_selection = args.range == 2 and start_mark[1] == args.line1 and end_mark[1] == args.line2
  local first_col = is_selection and vim.fn.visualmode() == 'v' and start_mark[2] or 0
  local last_col = is_selection and vim.fn.visualmode() == 'v' and end_mark[2] or #last
  local after = math.min(last_col + math.max(vim.str_utf_end(last, math.min(last_col + 1, math.max(#last, 1))), 0) + 1, #last)
  local first = vim.api.nvim_buf_get_lines(0, args.line1 - 1, args.line1, false)[1] or ''
  local encoding = client.offset_encoding
  return {
    start = { line = args.line1 - 1, character = vim.str_utfindex(first, encoding, math.min(first_col, #first), false) },
    ['end'] = { line = args.line2 - 1, character = vim.str_utfindex(last, encoding, after, false) },
  }
end

---@type table<string, midfill.Subcommand>
M.subcommands = {}
local commands = M.subcommands

commands.status = {
  about = 'what the server says of itself',
  run = function(client)
    local line = require('midfill').statusline()
    local command = client and client.rpc and require('midfill.program').find(client.root_dir)
    local from = command and command.cmd and (' (%s, from %s)'):format(command.cmd[1], command.from) or ''
    say(client and (line ~= '' and line or 'running') .. from or 'not running; see :checkhealth midfill')
  end,
}

commands.log = {
  about = "open Neovim's log of language servers, where the server's is",
  run = function()
    local get = vim.lsp.log and vim.lsp.log.get_filename or vim.lsp.get_log_path
    vim.cmd.tabedit({ args = { vim.fn.fnameescape(get()) } })
    vim.cmd.normal({ args = { 'G' }, bang = true })
  end,
}

commands.restart = {
  about = 'start the server anew',
  run = function()
    local running = vim.lsp.get_clients({ name = client_of.NAME })
    vim.lsp.enable(client_of.NAME, false)
    for _, one in ipairs(running) do
      one:stop()
    end
    -- Enabling it while the old one is leaving would attach the buffers to that one again.
    local deadline = vim.uv.now() + 5000
    local function start_again()
      local has_left = vim.iter(running):all(function(one)
        return one:is_stopped()
      end)
      if has_left or vim.uv.now() > deadline then
        vim.lsp.enable(client_of.NAME)
      else
        vim.defer_fn(start_again, 20)
      end
    end
    start_again()
  end,
}

commands.toggle = {
  about = 'suggest nothing any more, or again',
  run = function()
    say(require('midfill').toggle() and 'on' or 'off')
  end,
}

commands.fill = {
  about = 'suggest something here and now',
  needs_server = true,
  run = function()
    require('midfill').fill()
  end,
}

commands.draft = {
  about = 'show another suggestion',
  needs_server = true,
  run = function()
    require('midfill').next()
  end,
}

commands.model = {
  about = 'use another model, by its name or folder, until Neovim ends',
  needs_server = true,
  run = function(client, _, name)
    if name == '' then
      local preset = vim.tbl_get(client.settings, client_of.NAME, 'preset') or "the server's default"
      return say(('model %s; :Midfill model NAME changes it'):format(preset))
    end
    client_of.configure(client, { preset = name })
    say('model ' .. name)
  end,
}

commands.stats = {
  about = 'what happened in this session',
  server_command = 'midfill.stats',
  run = function(client)
    execute(client, 'midfill.stats', this_document(), function(result)
      say(type(result) == 'string' and result or vim.inspect(result))
    end)
  end,
}

commands.rewrite = {
  about = 'rewrite the lines or the selection as told',
  server_command = 'midfill.rewrite',
  run = function(client, args, instruction)
    local range = range_of(client, args)
    ---@param told? string
    local function rewrite(told)
      if told and told ~= '' then
        local argument = vim.tbl_extend('force', this_document(), { range = range, instruction = told })
        execute(client, 'midfill.rewrite', argument)
      end
    end
    if instruction ~= '' then
      rewrite(instruction)
    else
      vim.ui.input({ prompt = 'Rewrite: ' }, rewrite)
    end
  end,
}

commands.holes = {
  about = 'fill all holes of the buffer',
  server_command = 'midfill.holes',
  run = function(client)
    execute(client, 'midfill.holes', this_document())
  end,
}

---@param client? vim.lsp.Client
---@param subcommand midfill.Subcommand
---@return string? Why it cannot be run.
local function refusal(client, subcommand)
  if not (subcommand.needs_server or subcommand.server_command) then
    return nil
  end
  if not client then
    return 'no server for this buffer; see :checkhealth midfill'
  end
  if subcommand.server_command and not client_of.knows(client, subcommand.server_command) then
    return 'this server cannot do that'
  end
  return nil
end

---@param args vim.api.keyset.create_user_command.command_args
function M.run(args)
  local name = args.fargs[1] or 'status'
  local subcommand = M.subcommands[name]
  if not subcommand then
    return complain(('no such command: %s'):format(name))
  end
  local client = client_of.any()
  local why_not = refusal(client, subcommand)
  if why_not then
    return complain(('%s: %s'):format(name, why_not))
  end
  subcommand.run(client, args, vim.trim(args.args:sub(#name + 1)))
end

--- Complete with the subcommands that can be run now.
---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  if line:match('^%S*Midfill%s+%S+%s') then
    return {}
  end
  local client = client_of.any()
  local names = vim.iter(pairs(M.subcommands)):filter(function(name, subcommand)
    return vim.startswith(name, lead) and refusal(client, subcommand) == nil
  end)
  local found = names:map(function(name)
    return name
  end):totable()
  table.sort(found)
  return found
end

return M
